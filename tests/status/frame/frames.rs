//! Single frames of the live display, as the terminal shows them.

use rollout2::model::follow::Follower;
use rollout2::world::Terminal;

use crate::status::frame::emulator::Emulator;
use crate::status::frame::objects::{
    RolloutFixture, crashing, follower, frame, frame_with, starting, without_image,
};

const SIZES: [Terminal; 3] = [
    Terminal { width: 80, height: 24 },
    Terminal { width: 40, height: 10 },
    Terminal { width: 200, height: 50 },
];

/// Returns the screens of terminals of three sizes. Panics if a frame scrolls or wraps.
fn screens(follower: &Follower, seconds: u64) -> String {
    let screens = SIZES.map(|size| {
        let mut emulator = Emulator::new(size);
        emulator.write(&frame(follower, seconds, size).drawing(true));
        assert_eq!(emulator.scrolled(), 0, "{}", emulator.text());
        assert_eq!(emulator.screen(), emulator.text(), "a line was wrapped");
        assert!(emulator.cursor_is_visible());
        format!("-- {}x{}\n{}\n", size.width, size.height, emulator.screen())
    });
    screens.concat()
}

#[test]
fn a_progressing_rollout_is_drawn() {
    let before = RolloutFixture::new("web", 10, 2, 8).with(1, &starting());
    let after = RolloutFixture::new("web", 10, 5, 4).with(1, &starting());
    let follower = follower(&[(2, &[before]), (14, &[after])]);
    insta::assert_snapshot!(screens(&follower, 14));
}

#[test]
fn a_complete_rollout_is_drawn() {
    let before = RolloutFixture::new("web", 10, 2, 8);
    let follower = follower(&[(2, &[before]), (34, &[RolloutFixture::new("web", 10, 10, 0)])]);
    insta::assert_snapshot!(screens(&follower, 40));
}

#[test]
fn a_crashing_rollout_is_drawn_with_its_log() {
    let log = &["listening on :8080", "panic: DB_URL is not set", "main.main() main.go:12 +0x1d"];
    let bad = RolloutFixture::new("web", 10, 3, 6).with(2, &crashing()).with_log(log).with(1, &starting());
    let follower = follower(&[(0, &[bad])]);
    insta::assert_snapshot!(screens(&follower, 14));
}

#[test]
fn twelve_workloads_are_drawn() {
    let rollouts: Vec<_> = (1..=12)
        .map(|number| match number {
            3 => RolloutFixture::new("cart", 4, 1, 3).with(1, &crashing()),
            7 => RolloutFixture::new("checkout-and-billing", 10, 4, 5).with(2, &starting()),
            8 => RolloutFixture::new("search", 6, 0, 5)
                .with(2, &without_image("rpc error: code = NotFound: shop/search:5: not found")),
            number if number % 2 == 0 => RolloutFixture::new(&format!("app-{number}"), 3, 3, 0),
            number => RolloutFixture::new(&format!("app-{number}"), 3, 1, 2),
        })
        .collect();
    insta::assert_snapshot!(screens(&follower(&[(3, &rollouts)]), 8));
}

#[test]
fn a_long_message_with_escape_sequences_is_escaped() {
    let message = "\x1b[2J\x1b[1;1Hall is well\r\n\x1b]0;title\x07 \u{202e}txet\u{9b}31m ".repeat(6);
    let bad = RolloutFixture::new("web", 10, 2, 7).with(3, &without_image(&message));
    insta::assert_snapshot!(screens(&follower(&[(3, &[bad])]), 8));
}

#[test]
fn wide_characters_are_drawn_in_two_cells() {
    let message =
        "鏡像不存在：shop/web:5 在倉庫中找不到，請確認標籤是否已經推送到正確的倉庫 🚀🚀🚀".repeat(3);
    let bad = RolloutFixture::new("web", 10, 2, 7).with(3, &without_image(&message));
    insta::assert_snapshot!(screens(&follower(&[(3, &[bad])]), 8));
}

/// If a cause does not fit, its summary is kept and its pods are dropped.
#[test]
fn the_summary_of_a_cause_is_kept_in_a_small_terminal() {
    let bad = RolloutFixture::new("web", 10, 2, 7).with(2, &crashing()).with(1, &starting());
    let [one, two] = [
        follower(&[(3, std::slice::from_ref(&bad))]),
        follower(&[(3, &[bad, RolloutFixture::new("api", 3, 1, 2)])]),
    ];
    for (follower, width, height) in
        [(&one, 40, 5), (&one, 30, 5), (&two, 50, 6), (&two, 40, 6), (&two, 80, 3)]
    {
        let size = Terminal { width, height };
        let frame = frame(follower, 8, size);
        let text: Vec<_> = frame.lines().iter().map(rollout2::render::line::Line::text).collect();
        assert!(text.iter().any(|line| line.contains("CrashLoop")), "{size:?} {text:#?}");
    }
}

/// Long names with the same prefix stay distinguishable, and each line keeps its cause.
#[test]
fn many_workloads_with_long_names_stay_distinguishable() {
    let name = |number| format!("a-rather-long-name-for-a-service-of-billing-{number:02}");
    let rollouts = |ready| -> Vec<_> {
        let rollout = |number| match number % 5 {
            0 => RolloutFixture::new(&name(number), 9, 1, 8).with(1, &without_image("not found")),
            _ => RolloutFixture::new(&name(number), 9, ready, 9 - ready),
        };
        (0..24).map(rollout).collect()
    };
    let follower = follower(&[(2, &rollouts(1)), (9, &rollouts(6))]);
    let size = Terminal { width: 80, height: 24 };
    let lines: Vec<_> =
        frame(&follower, 9, size).lines().iter().map(rollout2::render::line::Line::text).collect();
    let folded: Vec<_> = lines.iter().filter(|line| line.starts_with("deployment/")).collect();
    let names: std::collections::HashSet<_> = folded.iter().map(|line| line.split("  ").next()).collect();
    assert_eq!((folded.len(), names.len()), (22, 22), "{lines:#?}");
    let failing: Vec<_> = folded.iter().filter(|line| line.contains("! app: ImagePullBackOff")).collect();
    assert_eq!(failing.len(), 5, "{lines:#?}");
    assert_eq!(folded.iter().filter(|line| line.contains("6/9 updated")).count(), 17, "{lines:#?}");
}

/// With 30 workloads, names were cut to two fifths of the width although their rows had room.
#[test]
fn names_of_many_workloads_are_whole_where_they_fit() {
    let name = |number| format!("checkout-frontend-work-{number:02}");
    let rollouts: Vec<_> = (0..30)
        .map(|number| match number % 10 {
            0 => RolloutFixture::new(&name(number), 9, 1, 8).with(1, &without_image("not found")),
            _ => RolloutFixture::new(&name(number), 9, 6, 3),
        })
        .collect();
    let follower = follower(&[(2, &rollouts)]);
    let size = Terminal { width: 80, height: 40 };
    let lines: Vec<_> =
        frame(&follower, 9, size).lines().iter().map(rollout2::render::line::Line::text).collect();
    let names = lines.iter().filter(|line| line.starts_with("deployment/checkout-frontend-work-"));
    assert!(
        names.clone().count() >= 30
            && !names.clone().any(|line| line.starts_with("deployment/checkout-frontend-work-…")),
        "{lines:#?}"
    );
    assert!(
        names.clone().all(|line| line.split(' ').next().is_some_and(|name| !name.contains('…'))),
        "{lines:#?}"
    );
}

/// The one with an image that does not exist had six lines, and the outage one.
#[test]
fn an_outage_is_unfolded_first_and_named() {
    let bad = |name: &str| RolloutFixture::new(name, 4, 1, 3).with(1, &without_image("not found"));
    let mut rollouts: Vec<_> = (0..16).map(|number| bad(&format!("app-{number:02}"))).collect();
    rollouts.push(RolloutFixture::new("queue", 3, 0, 0).with(3, &starting()));
    let size = Terminal { width: 80, height: 24 };
    let lines = |rollouts: &[RolloutFixture]| -> Vec<_> {
        let frame = frame(&follower(&[(3, rollouts)]), 8, size);
        frame.lines().iter().map(rollout2::render::line::Line::text).collect()
    };
    let unfolded = lines(&rollouts);
    assert!(unfolded.iter().any(|line| line.ends_with("0/3   outage")), "{unfolded:#?}");
    rollouts.extend(
        (0..20).map(|number| RolloutFixture::new(&format!("late-{number:02}"), 3, 0, 0).with(3, &starting())),
    );
    let folded = lines(&rollouts);
    let outages = folded.iter().filter(|line| line.contains("progressing, outage")).count();
    assert_eq!(outages, 21, "{folded:#?}");
}

/// A cause stays while its pods exist, since it may return, and disappears when its pods are deleted.
#[test]
fn a_cause_disappears_with_its_pods() {
    let shows = |after: RolloutFixture| {
        let before = RolloutFixture::new("web", 10, 2, 7).with(2, &crashing());
        let follower = follower(&[(3, &[before]), (5, &[after])]);
        frame(&follower, 5, SIZES[0]).lines().iter().any(|line| line.text().contains("CrashLoop"))
    };
    assert!(shows(RolloutFixture::new("web", 10, 2, 7).with(2, &starting())));
    assert!(!shows(RolloutFixture::new("web", 10, 2, 8)));
}

/// A plan of `step` raises `minReadySeconds` of a Deployment, so that its controller counts no pod as available.
#[test]
fn pods_are_available_by_the_workloads_own_min_ready_seconds() {
    let stepped = RolloutFixture { is_stepped: true, ..RolloutFixture::new("web", 5, 2, 3) };
    let frame = frame(&follower(&[(3, &[stepped])]), 5, SIZES[0]);
    let lines: Vec<_> = frame.lines().iter().map(rollout2::render::line::Line::text).collect();
    assert!(lines.iter().any(|line| line.contains("available") && line.contains(" 5/5")), "{lines:#?}");
}

/// A frame has fewer rows than the terminal and is not wider.
#[test]
fn a_frame_fits_into_every_terminal() {
    let bad =
        |name: &str| RolloutFixture::new(name, 10, 2, 7).with(2, &crashing()).with(1, &without_image("no"));
    let one = follower(&[(3, &[bad("web")])]);
    let many: Vec<_> = (0..20).map(|number| bad(&format!("大-{number}"))).collect();
    let many = follower(&[(3, &many)]);
    for follower in [&one, &many] {
        let widths = [1, 2, 5, 10, 19, 20, 21, 39, 40, 79, 200];
        let heights = [2, 3, 4, 5, 6, 8, 9, 10, 24, 31, 50];
        for size in widths.iter().flat_map(|&width| heights.map(|height| Terminal { width, height })) {
            let frame = frame(follower, 8, size);
            assert!(frame.lines().len() < usize::from(size.height), "{size:?}");
            let widest = frame.lines().iter().map(rollout2::render::line::Line::cells).max();
            assert!(widest.is_some_and(|widest| widest < usize::from(size.width).max(2)), "{size:?}");
        }
    }
}

/// No pod serves: the old ones are gone, and the new ones crash.
#[test]
fn an_outage() {
    let bad = RolloutFixture::new("web", 3, 0, 0).with(3, &crashing());
    let follower = follower(&[(0, &[bad])]);
    let screens = screens(&follower, 14);
    assert!(screens.contains("0/3   outage"), "{screens}");
}

#[test]
fn the_pods_of_a_complete_rollout_have_lines_too() {
    let follower = follower(&[(0, &[RolloutFixture::new("web", 3, 3, 0)])]);
    let size = Terminal { width: 80, height: 24 };
    let frame = frame_with(&follower, 14, size, true);
    let pods = frame.lines().iter().filter(|line| line.text().starts_with("    web-"));
    assert_eq!(pods.count(), 3, "{frame:?}");
}

#[test]
fn each_pod_has_a_line_below_its_revision() {
    let bad = RolloutFixture::new("web", 4, 1, 3).with(1, &crashing());
    let follower = follower(&[(0, &[bad])]);
    let screens = [(80, 24), (60, 10)].map(|(width, height)| {
        let size = Terminal { width, height };
        let mut emulator = Emulator::new(size);
        emulator.write(&frame_with(&follower, 14, size, true).drawing(false));
        format!("-- {width}x{height}\n{}\n", emulator.screen())
    });
    insta::assert_snapshot!(screens.concat());
}
