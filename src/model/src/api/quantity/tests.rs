use super::*;
use proptest::prelude::*;

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|| panic!("{text} is a quantity"))
}

#[test]
fn quantities_are_printed_in_the_canonical_form() {
    for (text, printed) in [
        ("0", "0"),
        ("000", "0"),
        (".", "0"),
        ("0Ki", "0"),
        ("2", "2"),
        ("2000m", "2"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("1500m", "1500m"),
        ("100000", "100k"),
        ("1024", "1024"),
        ("1Ki", "1Ki"),
        ("1024Mi", "1Gi"),
        ("512Ki", "512Ki"),
        ("1536Mi", "1536Mi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("0.0001Ki", "102400u"),
        ("1.1Ki", "1126400m"),
        ("64Mi", "64Mi"),
        ("1e3", "1k"),
        ("1e4", "10k"),
        ("12E6", "12M"),
        ("1000e3", "1M"),
        ("-1500m", "-1500m"),
        ("-2048", "-2048"),
        ("-2048Ki", "-2Mi"),
        ("9Ei", "9Ei"),
        ("0.0000000001", "1n"),
        ("1e-400", "1n"),
        ("+5", "5"),
        ("005", "5"),
        ("1.500", "1500m"),
        ("1.234k", "1234"),
        ("1.2345k", "1234500m"),
    ] {
        assert_eq!(quantity(text).to_string(), printed, "{text}");
    }
}

#[test]
fn invalid_quantities_are_none() {
    for text in
        ["", " ", "x", "1x", "1 Gi", "1.2.3", "e", "1e", "1eE3", "1mi", "1K", "--1", "0x10", "1e99", "∞"]
    {
        assert!(Quantity::parse(text).is_none(), "{text}");
    }
}

#[test]
fn equal_amounts_are_equal() {
    for (one, other) in [("1000m", "1"), ("1Gi", "1024Mi"), ("1e3", "1k"), ("0.1", "100m"), ("-0", "0")] {
        assert_eq!(quantity(one), quantity(other), "{one} and {other}");
    }
    assert!(quantity("1G") < quantity("1Gi"));
    assert!(quantity("-1") < quantity("1n"));
}

#[test]
fn counts_divisors_rounding_up() {
    for (amount, divisor, expected) in [
        ("1500m", "1", 2),
        ("1500m", "0", 2),
        ("1500m", "1m", 1500),
        ("512Mi", "1Mi", 512),
        ("512Mi", "1Gi", 1),
        ("0", "1", 0),
        ("-1500m", "1", -1),
    ] {
        assert_eq!(quantity(amount).divided_by(&quantity(divisor)), expected, "{amount} / {divisor}");
    }
}

#[test]
fn json_numbers_are_quantities() {
    assert_eq!(Quantity::read(&1.5.into()).map(|q| q.to_string()), Some("1500m".into()));
    assert_eq!(Quantity::read(&Value::Bool(true)), None);
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_rejected(text in "\\PC*") {
        let _ = Quantity::parse(&text);
    }

    #[test]
    fn a_printed_quantity_parses_to_an_equal_one(text in "[+-]?[0-9]{0,20}(\\.[0-9]{0,12})?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]{1,2})?") {
        if let Some(read) = Quantity::parse(&text) {
            let again = quantity(&read.to_string());
            prop_assert_eq!(&again, &read);
            prop_assert_eq!(again.to_string(), read.to_string());
        }
    }

    #[test]
    fn whole_numbers_compare_as_numbers(a in any::<i64>(), b in any::<i64>()) {
        prop_assert_eq!(quantity(&a.to_string()).cmp(&quantity(&b.to_string())), a.cmp(&b));
    }

    #[test]
    fn thousandths_compare_with_wholes(milli in -1_000_000_i64..1_000_000, whole in -1000_i64..1000) {
        let comparison = quantity(&format!("{milli}m")).cmp(&quantity(&whole.to_string()));
        prop_assert_eq!(comparison, milli.cmp(&(whole * 1000)));
    }
}
