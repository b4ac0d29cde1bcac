//! API objects: the fields that the other folders read of objects, pods, nodes and events.

pub mod container;
pub mod count;
pub mod event;
pub mod field_selector;
pub mod managed_fields;
pub mod object;
pub mod patch;
pub mod pod;
pub mod quantity;
pub mod resource_type;
pub mod selector;
