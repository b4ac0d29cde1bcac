//! Sequences of frames: each frame replaces the previous one and changes nothing else on the terminal.

use proptest::prelude::*;
use rollout2::render::line::{Line, Style};
use rollout2::render::message_writer::Frame;
use rollout2::world::Terminal;

use crate::status::frame::emulator::Emulator;
use crate::strategies::matching;

/// The content of the terminal before the program starts.
const BEFORE: &str = "$ make release\nreleased\n";

/// Lines of characters of one and two cells and of control characters. Combining characters are left out, since
/// terminals differ in their width.
fn line() -> impl Strategy<Value = Line> {
    let text = ["[a-z ]{0,90}", "[大小a🚀 ]{0,40}", r"[a-z\x1b\x08\[;0-9A-H\r\n\t]{0,30}"].map(matching);
    let text = prop::strategy::Union::new(text);
    (text, any::<bool>()).prop_map(|(text, bad)| {
        Line::of("").with(if bad { Style::Bad } else { Style::Plain }, text.trim_end())
    })
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    prop::collection::vec(line(), 0..7)
}

fn text(frame: &Frame) -> String {
    let lines: Vec<_> = frame.lines().iter().map(|line| line.text().trim_end().to_owned()).collect();
    format!("{BEFORE}{}", lines.join("\n")).trim_end().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// In a terminal of constant size only the last frame is visible below the earlier content.
    #[test]
    fn no_characters_remain_after_a_redraw(frames in prop::collection::vec(lines(), 1..8)) {
        let size = Terminal { width: 60, height: 10 };
        let mut emulator = Emulator::new(size);
        emulator.write(BEFORE);
        let mut drawn = Frame::new([], size);
        for lines in frames {
            let frame = Frame::new(lines, size);
            emulator.write(&drawn.replacement(&frame, size, true));
            prop_assert_eq!(emulator.text(), text(&frame));
            prop_assert!(emulator.cursor_is_visible());
            drawn = frame;
        }
    }

    /// The same holds when the terminal is resized between two frames and rewraps long lines, as most terminals do.
    /// Rows that scroll off the screen cannot be erased, so the terminal of this test is high enough and already full.
    #[test]
    fn no_characters_remain_after_a_resize(before in lines(), after in lines(), widths in [20_u16..90, 20..90]) {
        let [size, next] = widths.map(|width| Terminal { width, height: 40 });
        let screenful = "\n".repeat(size.height.into());
        let mut emulator = Emulator::new(size);
        emulator.write(&(screenful.clone() + BEFORE));
        let drawn = Frame::new(before, size);
        emulator.write(&drawn.drawing(true));
        emulator.resize(next);
        let frame = Frame::new(after, next);
        emulator.write(&drawn.replacement(&frame, next, true));
        prop_assert_eq!(emulator.text(), screenful + &text(&frame));
    }

    /// The program removes the frame, prints a message, and draws the frame below it.
    #[test]
    fn a_frame_can_be_removed_and_redrawn(lines in lines()) {
        let size = Terminal { width: 60, height: 10 };
        let mut emulator = Emulator::new(size);
        emulator.write(BEFORE);
        let frame = Frame::new(lines, size);
        emulator.write(&frame.drawing(true));
        emulator.write(&frame.erasure(size));
        prop_assert_eq!(emulator.text(), BEFORE.trim_end());
        emulator.write(&frame.drawing(true));
        prop_assert_eq!(emulator.text(), text(&frame));
    }
}

/// A frame in the first row of the screen is removed without clearing the whole screen.
#[test]
fn a_frame_is_removed_from_the_top_of_the_screen() {
    let [size, narrow] = [60, 20].map(|width| Terminal { width, height: 10 });
    for count in 0..9 {
        let drawn = Frame::new((0..count).map(|number| Line::of(format!("line {number}"))), size);
        let mut emulator = Emulator::new(size);
        emulator.write(&drawn.drawing(true));
        emulator.write(&format!("{}message\n", drawn.erasure(size)));
        assert_eq!((emulator.text().as_str(), emulator.scrolled()), ("message", 0), "{count}");

        let mut emulator = Emulator::new(size);
        emulator.write(&drawn.drawing(true));
        emulator.resize(narrow);
        emulator.write(&drawn.replacement(&Frame::new([Line::of("one")], narrow), narrow, true));
        assert_eq!((emulator.text().as_str(), emulator.scrolled()), ("one", 0), "{count}");
    }
}

#[test]
fn unchanged_lines_are_not_rewritten() {
    let size = Terminal { width: 60, height: 10 };
    let frame = |lines: &[&str]| Frame::new(lines.iter().map(Line::of), size);
    let drawn = frame(&["one", "two", "three"]);
    assert_eq!(drawn.replacement(&frame(&["one", "two", "three"]), size, true), "");
    let replacement = drawn.replacement(&frame(&["one", "2", "three"]), size, true);
    assert_eq!(replacement, "\r\x1b[3A\n\x1b[K2\n\n\x1b[J");
}

/// The program writes only cursor movements, erasures and colours, so the terminal stays usable after `kill -9`.
#[test]
fn no_terminal_mode_is_left_on() {
    let size = Terminal { width: 60, height: 10 };
    let bad = || Line::of("").with(Style::Bad, "\x1b[?25l bad");
    let frame = |count: usize| Frame::new((0..count).map(|_| bad()), size);
    let written =
        frame(3).drawing(true) + &frame(3).replacement(&frame(5), size, true) + &frame(5).erasure(size);
    let sequences: Vec<_> = written.split('\x1b').skip(1).collect();
    assert!(!sequences.is_empty());
    for sequence in sequences {
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        assert!(["m", "K", "J", "A"].contains(&&sequence[end..=end]), "{sequence:?}");
        assert!(!sequence.contains('?') || sequence.contains("^[[?25l"), "{sequence:?}");
    }
    assert_eq!(written.matches("\x1b[31m").count(), written.matches("\x1b[0m").count());
}
