//! The queue of tasks, each at most once, in an order that the test chooses.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;

use super::Task;
use crate::random::Dice;

/// The order of the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    /// First in, first out.
    #[default]
    Fair,
    /// At random, from a seed.
    Seeded(u64),
}

/// The tasks that are due, and those for later.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    /// None for the fair order.
    dice: Option<Dice>,
    now: VecDeque<Task>,
    later: BTreeMap<Task, Timestamp>,
}

impl Queue {
    pub(super) fn new(order: Order) -> Self {
        let dice = match order {
            Order::Fair => None,
            Order::Seeded(seed) => Some(Dice::new(seed)),
        };
        Self { dice, ..Self::default() }
    }

    /// Adds a task, unless it is queued already.
    pub(super) fn add(&mut self, task: Task) {
        if !self.now.contains(&task) {
            self.now.push_back(task);
        }
    }

    /// Adds a task before all others.
    pub(super) fn add_first(&mut self, task: Task) {
        self.now.retain(|waiting| *waiting != task);
        self.now.push_front(task);
    }

    /// Adds a task for a later time; the earliest time counts.
    pub(super) fn add_at(&mut self, task: Task, at: Timestamp) {
        self.later.entry(task).and_modify(|known| *known = at.min(*known)).or_insert(at);
    }

    /// Moves the tasks that are due at this time into the queue.
    pub(super) fn wake(&mut self, now: Timestamp) {
        let mut due: Vec<(Timestamp, Task)> = Vec::new();
        self.later.retain(|task, at| {
            let waits = *at > now;
            if !waits {
                due.push((*at, task.clone()));
            }
            waits
        });
        due.sort();
        for (_, task) in due {
            self.add(task);
        }
    }

    /// Removes and returns the next task.
    pub(super) fn take(&mut self) -> Option<Task> {
        let place = self.dice.as_mut().map_or(0, |dice| dice.index(self.now.len()));
        self.now.remove(place)
    }

    /// Returns when the next of the later tasks is due.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.later.values().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Controller;
    use crate::resource::PODS;
    use crate::store::Key;

    fn task(name: &str) -> Task {
        Task::new(Controller::Kubelet, Key::new(&PODS, "shop", name))
    }

    #[test]
    fn a_task_is_queued_once() {
        let mut queue = Queue::new(Order::Fair);
        for name in ["a", "b", "a"] {
            queue.add(task(name));
        }
        queue.add_first(task("c"));
        let names: Vec<String> = std::iter::from_fn(|| queue.take()).map(|task| task.key.name).collect();
        assert_eq!(names, ["c", "a", "b"]);
    }

    #[test]
    fn a_seed_repeats_its_order() {
        let order = |seed| {
            let mut queue = Queue::new(Order::Seeded(seed));
            ('a'..'h').for_each(|name| queue.add(task(&name.to_string())));
            std::iter::from_fn(|| queue.take()).map(|task| task.key.name).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    #[test]
    fn later_tasks_wake_in_the_order_of_their_times() {
        let mut queue = Queue::new(Order::Fair);
        let at = |second| Timestamp::from_second(second).unwrap();
        queue.add_at(task("second"), at(2));
        queue.add_at(task("first"), at(1));
        queue.add_at(task("first"), at(3));
        queue.add_at(task("third"), at(4));
        assert_eq!(queue.next_due(), Some(at(1)));
        queue.wake(at(2));
        assert_eq!(queue.take(), Some(task("first")));
        assert_eq!(queue.take(), Some(task("second")));
        assert_eq!((queue.take(), queue.next_due()), (None, Some(at(4))));
    }
}
