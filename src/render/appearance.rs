//! Decides from flags, environment and terminal whether to use colour and live frames.

use crate::world::{Environment, Terminal};

/// The value of `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// Use colour on a terminal that supports it, unless the environment disables it.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Whether to use colour: decided by `--color`, then `NO_COLOR`, then `CLICOLOR_FORCE`, then the terminal.
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

/// The variables by which CI systems are known. Azure Pipelines and `TeamCity` do not set `CI`.
const BUILD: [&str; 5] = ["CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION"];

/// Whether a CI system reads the log and executes some lines as commands.
pub(super) fn is_build(environment: &Environment) -> bool {
    BUILD.iter().any(|name| environment.get(name).is_some())
}

/// Whether to draw live frames: on a terminal that can move its cursor, outside of CI systems.
pub(super) fn can_draw(environment: &Environment, terminal: Option<Terminal>) -> bool {
    terminal.is_some() && environment.text("TERM") != Some("dumb") && !is_build(environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_need_a_capable_terminal_outside_of_ci() {
        let environment = |variables: &[(&str, &str)]| variables.iter().copied().collect::<Environment>();
        let terminal = Some(Terminal::default());
        for (variables, terminal, draws) in [
            (vec![], terminal, true),
            (vec![("NO_COLOR", "1")], terminal, true),
            (vec![("CI", "")], terminal, true),
            (vec![("CI", "true")], terminal, false),
            (vec![("TF_BUILD", "True")], terminal, false),
            (vec![("TEAMCITY_VERSION", "2026.1")], terminal, false),
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
