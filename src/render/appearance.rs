//! How output is to look, by flag, environment and terminal: coloured, drawn over, without secrets.

use crate::world::{Environment, Terminal};

/// When to use colour, as `--color` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// On a terminal that can, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// `--color`, then `NO_COLOR`, then `CLICOLOR_FORCE`, then whether a capable terminal is there.
pub(super) fn wants_color(color: Color, environment: &Environment, terminal: Option<Terminal>) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let forced = environment.text("CLICOLOR_FORCE").is_some_and(|value| value != "0");
            let capable = terminal.is_some() && environment.text("TERM") != Some("dumb");
            environment.get("NO_COLOR").is_none() && (forced || capable)
        }
    }
}

/// `ROLLOUT2_REDACT`: whoever sets it to anything but a no wants nothing secret in the objects printed.
pub(super) fn wants_redaction(environment: &Environment) -> bool {
    environment.get("ROLLOUT2_REDACT").is_some_and(|value| value != "0" && value != "false")
}

/// Whether a terminal is there that can move its cursor, and nobody said that this is a build (`CI`).
pub(super) fn can_draw(environment: &Environment, terminal: Option<Terminal>) -> bool {
    terminal.is_some() && environment.text("TERM") != Some("dumb") && environment.get("CI").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_drawn_on_a_terminal_that_obeys_and_in_no_build() {
        let environment = |variables: &[(&str, &str)]| variables.iter().copied().collect::<Environment>();
        let terminal = Some(Terminal::default());
        for (variables, terminal, draws) in [
            (vec![], terminal, true),
            (vec![("NO_COLOR", "1")], terminal, true),
            (vec![("CI", "")], terminal, true),
            (vec![("CI", "true")], terminal, false),
            (vec![("TERM", "dumb")], terminal, false),
            (vec![("CLICOLOR_FORCE", "1")], None, false),
        ] {
            assert_eq!(can_draw(&environment(&variables), terminal), draws, "{variables:?}");
        }
    }

    #[test]
    fn colour_follows_the_flag_then_the_environment_then_the_terminal() {
        let environment = |variables: &[(&str, &str)]| variables.iter().copied().collect::<Environment>();
        let terminal = Some(Terminal::default());
        for (color, variables, terminal, colored) in [
            (Color::Auto, vec![], terminal, true),
            (Color::Auto, vec![], None, false),
            (Color::Auto, vec![("TERM", "dumb")], terminal, false),
            (Color::Auto, vec![("NO_COLOR", "1")], terminal, false),
            (Color::Auto, vec![("NO_COLOR", "")], terminal, true),
            (Color::Auto, vec![("CLICOLOR_FORCE", "1")], None, true),
            (Color::Auto, vec![("CLICOLOR_FORCE", "0")], None, false),
            (Color::Auto, vec![("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], terminal, false),
            (Color::Always, vec![("NO_COLOR", "1")], None, true),
            (Color::Never, vec![("CLICOLOR_FORCE", "1")], terminal, false),
        ] {
            assert_eq!(
                wants_color(color, &environment(&variables), terminal),
                colored,
                "{color:?} {variables:?}"
            );
        }
    }
}
