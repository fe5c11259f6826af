//! What others have named, as it may be shown: in a terminal, a log, a message.

/// Longest name of a job, a user, a queue or a class that is kept, in characters.
pub const NAME_MAX: usize = 512;

/// A name that does nothing but stand there: whoever may submit a job chooses one.
pub fn printable(name: &str) -> String {
    let shown = |letter: char| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter };
    name.chars().take(NAME_MAX).map(shown).collect()
}

/// An address without a user's name and password.
pub fn without_user(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").map_or(("", text), |(scheme, rest)| (scheme, rest));
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    match host.rsplit_once('@') {
        Some((user, _)) => {
            let begins = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
            format!("{begins}…{}", &rest[user.len()..])
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jobs_name_neither_clears_a_screen_nor_begins_a_line() {
        assert_eq!(printable("evil \x1b[2J\nResumed: cluster"), "evil \u{fffd}[2J\u{fffd}Resumed: cluster");
        assert_eq!(printable("Überträge 日次"), "Überträge 日次");
        assert_eq!(printable(&"x".repeat(NAME_MAX + 1)).len(), NAME_MAX);
    }

    #[test]
    fn what_is_shown_of_an_address_has_no_password() {
        assert_eq!(without_user("http://u:p@rm:8088/x"), "http://…@rm:8088/x");
        assert_eq!(without_user("u:p@q@rm:8088"), "…@rm:8088");
        for plain in ["http://rm:8088/a@b", "rm:8088", ""] {
            assert_eq!(without_user(plain), plain);
        }
    }
}
