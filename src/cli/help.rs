//! Help set for the width of the terminal. What is too long clap wraps like prose, back to the margin; a list keeps its columns here.

use clap::Command;
use terminal_size::{Width, terminal_size};

/// Longer lines are hard to read.
const WIDEST: usize = 100;
/// How far what goes on from the line before stands in.
const GOES_ON: usize = 4;

/// The command line with its texts set for this terminal.
pub fn fitted(command: Command) -> Command {
    set(command, width())
}

fn width() -> usize {
    let terminal = terminal_size().map(|(Width(columns), _)| usize::from(columns));
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(told).filter(|columns| *columns > 0).map_or(WIDEST, |columns: usize| columns.min(WIDEST))
}

fn set(command: Command, width: usize) -> Command {
    let after = command.get_after_help().map(|text| {
        let lines: Vec<String> = text.to_string().lines().map(|line| hung(line, width)).collect();
        lines.join("\n")
    });
    let command = command.term_width(width);
    let command = if let Some(text) = after { command.after_help(text) } else { command };
    command.mut_subcommands(|inner| set(inner, width))
}

/// A line of a list, so that what goes on from it stands below its own column; prose is left to clap.
fn hung(line: &str, width: usize) -> String {
    let indent = line.chars().take_while(|letter| *letter == ' ').count();
    if indent == 0 || length(line) <= width {
        return line.to_owned();
    }
    let text = line.trim_start();
    let Some((first, second)) = text.split_once("  ") else { return fill(indent, text, indent + GOES_ON, width) };
    let second = second.trim_start();
    let column = length(line) - length(second);
    if column <= width * 3 / 5 {
        let head: String = line.chars().take(column).collect();
        return format!("{head}{}", fill(column, second, column, width).trim_start());
    }
    let below = indent + GOES_ON;
    format!("{}\n{}", fill(indent, first, below, width), fill(below, second, below, width))
}

/// Words in lines of that width: the first stands in by `indent`, the others by `hang`.
fn fill(indent: usize, words: &str, hang: usize, width: usize) -> String {
    let mut text = " ".repeat(indent);
    let (mut at, mut is_begun) = (indent, false);
    for word in words.split(' ') {
        if is_begun && at + 1 + length(word) > width {
            text += &format!("\n{:hang$}", "");
            (at, is_begun) = (hang, false);
        }
        if is_begun {
            text.push(' ');
            at += 1;
        }
        text += word;
        at += length(word);
        is_begun = true;
    }
    text
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn what_goes_on_from_a_line_of_a_list_stands_below_its_own_column() {
        assert_eq!(hung("  3  the service cannot be reached", 22), "  3  the service\n     cannot be reached");
        let example = "  drover simulate a.toml --policy late      what LATE comes to";
        assert_eq!(hung(example, 40), "  drover simulate a.toml --policy late\n      what LATE comes to");
        assert_eq!(hung(example, 30), "  drover simulate a.toml\n      --policy late\n      what LATE comes to");
        assert_eq!(hung("  drover a --set b=c --out d", 20), "  drover a --set b=c\n      --out d");
    }

    #[test]
    fn what_fits_and_prose_are_left_as_they_are() {
        for line in ["", "  0  done", "Some long prose that is wrapped by clap as it likes."] {
            assert_eq!(hung(line, 20), line);
        }
    }

    /// Every command of the line, itself included.
    fn each(command: &mut Command, see: &mut impl FnMut(&mut Command)) {
        see(command);
        command.get_subcommands_mut().for_each(|inner| each(inner, see));
    }

    #[test]
    fn no_help_of_any_command_is_wider_than_the_terminal_or_loses_the_columns_of_its_lists() {
        for width in [80, 100] {
            let mut command = set(Cli::command(), width);
            command.build();
            each(&mut command, &mut |one| {
                let help = one.render_long_help().to_string();
                let name = one.get_name();
                // What is to be given stands on one line, however much it is.
                for line in help.lines().filter(|line| !line.starts_with("Usage:")) {
                    assert!(length(line) <= width, "{name}: {line}");
                }
                let after = one.get_after_help().map(ToString::to_string).unwrap_or_default();
                let prose = |line: &str| line.starts_with(|letter| letter != ' ');
                for (line, next) in after.lines().zip(after.lines().skip(1)) {
                    assert!(!(prose(line) && prose(next)), "{name}: a paragraph is broken after: {line}");
                }
                for line in after.lines().filter(|line| line.starts_with(' ')) {
                    assert!(help.lines().any(|shown| shown == line), "{name}: clap has wrapped: {line}");
                }
            });
        }
    }
}
