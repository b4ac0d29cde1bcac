//! Frame after frame: each takes the place of the one before it, and leaves everything else alone.

use proptest::prelude::*;
use rollout2::render::frame::{Frame, FrameLine};
use rollout2::render::live::{DrawnFrame, drawing};
use rollout2::render::style::Style;
use rollout2::world::Terminal;

use crate::emulator::Emulator;

/// What was on the terminal before we came.
const BEFORE: &str = "$ make release\nreleased\n";

/// Letters of one and two cells, and what must be shown instead of done. Marks that stand over a letter are
/// left out: terminals do not agree on them, and this one counts a cell for each.
fn line() -> impl Strategy<Value = FrameLine> {
    let text = prop_oneof!["[a-z ]{0,90}", "[大小a🚀 ]{0,40}", r"[a-z\x1b\x08\[;0-9A-H\r\n\t]{0,30}"];
    (text, any::<bool>()).prop_map(|(text, bad)| {
        FrameLine::of("").with(if bad { Style::Bad } else { Style::Plain }, text.trim_end())
    })
}

fn lines() -> impl Strategy<Value = Vec<FrameLine>> {
    prop::collection::vec(line(), 0..7)
}

fn text(frame: &Frame) -> String {
    let lines: Vec<_> = frame.lines().iter().map(|line| line.text().trim_end().to_owned()).collect();
    format!("{BEFORE}{}", lines.join("\n")).trim_end().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// At one size nothing but the last frame is ever seen below what was there before.
    #[test]
    fn no_characters_remain_after_a_redraw(frames in prop::collection::vec(lines(), 1..8)) {
        let size = Terminal { width: 60, height: 10 };
        let mut emulator = Emulator::new(size);
        emulator.write(BEFORE);
        let mut standing = DrawnFrame::new(Frame::default(), size);
        for lines in frames {
            let frame = Frame::new(lines, size);
            emulator.write(&standing.replacement(&frame, size, true));
            prop_assert_eq!(emulator.text(), text(&frame));
            prop_assert!(emulator.cursor_is_visible());
            standing = DrawnFrame::new(frame, size);
        }
    }

    /// Nor when the terminal becomes wider or narrower in between, and breaks lines that have become too
    /// long, as this emulator and most terminals do. (What scrolls out of sight for it is out of reach, so
    /// the terminal is high enough, and full, as that of a shell is.)
    #[test]
    fn a_terminal_may_be_resized_at_any_time(before in lines(), after in lines(), widths in [20_u16..90, 20..90]) {
        let [size, next] = widths.map(|width| Terminal { width, height: 40 });
        let screenful = "\n".repeat(size.height.into());
        let mut emulator = Emulator::new(size);
        emulator.write(&(screenful.clone() + BEFORE));
        let frame = Frame::new(before, size);
        emulator.write(&drawing(&frame, true));
        emulator.resize(next);
        let standing = DrawnFrame::new(frame, size);
        let frame = Frame::new(after, next);
        emulator.write(&standing.replacement(&frame, next, true));
        prop_assert_eq!(emulator.text(), screenful + &text(&frame));
    }

    /// A message is printed above the frame.
    #[test]
    fn a_frame_can_be_removed_and_redrawn(lines in lines()) {
        let size = Terminal { width: 60, height: 10 };
        let mut emulator = Emulator::new(size);
        emulator.write(BEFORE);
        let frame = Frame::new(lines, size);
        let standing = DrawnFrame::new(frame.clone(), size);
        emulator.write(&drawing(&frame, true));
        emulator.write(&standing.erasure(size));
        prop_assert_eq!(emulator.text(), BEFORE.trim_end());
        emulator.write(&drawing(&frame, true));
        prop_assert_eq!(emulator.text(), text(&frame));
    }
}

/// In the first row of the screen, too, where everything below it is all there is.
#[test]
fn a_frame_is_removed_from_the_top_of_the_screen() {
    let [size, narrow] = [60, 20].map(|width| Terminal { width, height: 10 });
    for count in 0..9 {
        let frame = || Frame::new((0..count).map(|number| FrameLine::of(format!("line {number}"))), size);
        let standing = DrawnFrame::new(frame(), size);
        let mut emulator = Emulator::new(size);
        emulator.write(&drawing(&frame(), true));
        emulator.write(&format!("{}said\n", standing.erasure(size)));
        assert_eq!((emulator.text().as_str(), emulator.scrolled()), ("said", 0), "{count}");

        let mut emulator = Emulator::new(size);
        emulator.write(&drawing(&frame(), true));
        emulator.resize(narrow);
        emulator.write(&standing.replacement(&Frame::new([FrameLine::of("one")], narrow), narrow, true));
        assert_eq!((emulator.text().as_str(), emulator.scrolled()), ("one", 0), "{count}");
    }
}

#[test]
fn unchanged_lines_are_not_rewritten() {
    let size = Terminal { width: 60, height: 10 };
    let frame = |words: &[&str]| Frame::new(words.iter().map(FrameLine::of), size);
    let standing = DrawnFrame::new(frame(&["one", "two", "three"]), size);
    assert_eq!(standing.replacement(&frame(&["one", "two", "three"]), size, true), "");
    let replacement = standing.replacement(&frame(&["one", "2", "three"]), size, true);
    assert_eq!(replacement, "\r\x1b[3A\n\x1b[K2\n\n\x1b[J");
}

/// `kill -9` leaves a usable terminal: only cursor moves, deletions and colours are ever written.
#[test]
fn no_terminal_mode_is_left_on() {
    let size = Terminal { width: 60, height: 10 };
    let bad = || FrameLine::of("").with(Style::Bad, "\x1b[?25l bad");
    let frame = |count: usize| Frame::new((0..count).map(|_| bad()), size);
    let written = drawing(&frame(3), true)
        + &DrawnFrame::new(frame(3), size).replacement(&frame(5), size, true)
        + &DrawnFrame::new(frame(5), size).erasure(size);
    let sequences: Vec<_> = written.split('\x1b').skip(1).collect();
    assert!(!sequences.is_empty());
    for sequence in sequences {
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        assert!(["m", "K", "J", "A"].contains(&&sequence[end..=end]), "{sequence:?}");
        assert!(!sequence.contains('?') || sequence.contains("^[[?25l"), "{sequence:?}");
    }
    assert_eq!(written.matches("\x1b[31m").count(), written.matches("\x1b[0m").count());
}
