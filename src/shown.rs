//! What others have named, as it may be shown: in a terminal, a log, a message.

/// Longest name of a job, a user, a queue or a class that is kept, in characters.
pub const NAME_MAX: usize = 512;

/// A name that does nothing but stand there: whoever may submit a job chooses one.
pub fn printable(name: &str) -> String {
    // Beside control characters what ends a line or turns the direction of writing.
    let odd = |letter| matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let shown = |letter: char| if letter.is_control() || odd(letter) { char::REPLACEMENT_CHARACTER } else { letter };
    name.chars().take(NAME_MAX).map(shown).collect()
}

/// Could it be a host's name? The longest that DNS has is of 253 characters.
pub fn is_host(name: &str) -> bool {
    !name.is_empty() && name.len() <= 255 && !name.chars().any(|letter| letter.is_control() || letter.is_whitespace())
}

/// One word to a shell, whatever is in it.
pub fn shell_word(text: &str) -> String {
    let is_plain = text.chars().all(|one| one.is_ascii_alphanumeric() || "._-/@:".contains(one));
    if is_plain && !text.is_empty() { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// An address without a user's name and password: all up to the last `@`, for a password may hold any sign.
pub fn without_user(text: &str) -> String {
    let is_scheme = |at: &usize| text[..*at].chars().all(|letter| letter.is_ascii_alphabetic());
    let Some(at) = text.rfind('@') else { return text.to_owned() };
    let begins = text.find("://").filter(is_scheme).map_or(0, |scheme| scheme + 3).min(at);
    format!("{}…{}", &text[..begins], &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jobs_name_neither_clears_a_screen_nor_begins_a_line() {
        assert_eq!(printable("evil \x1b[2J\nResumed: cluster"), "evil \u{fffd}[2J\u{fffd}Resumed: cluster");
        assert_eq!(printable("Überträge 日次"), "Überträge 日次");
        assert_eq!(printable("a\u{202e}b\u{2028}c\u{2067}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert_eq!(printable(&"x".repeat(NAME_MAX + 1)).len(), NAME_MAX);
    }

    #[test]
    fn a_name_of_any_letters_is_one_word_to_a_shell() {
        let said = |text: &str| {
            let script = format!("printf '%s|' {}", shell_word(text));
            let told = std::process::Command::new("sh").arg("-c").arg(script).output().unwrap();
            String::from_utf8(told.stdout).unwrap()
        };
        for name in ["root.etl", "ali ce/../x?y#z", "it's", "$HOME `id` \"\\", "", "*", "a\nb"] {
            assert_eq!(said(name), format!("{name}|"));
        }
        assert_eq!(shell_word("root.etl"), "root.etl");
    }

    #[test]
    fn what_is_shown_of_an_address_has_no_password() {
        assert_eq!(without_user("http://u:p@rm:8088/x"), "http://…@rm:8088/x");
        assert_eq!(without_user("u:p@q@rm:8088"), "…@rm:8088");
        assert_eq!(without_user("http://u:p/a#s?s@rm:8088"), "http://…@rm:8088");
        assert_eq!(without_user("u:p@rm1:8088,http://rm2:8088"), "…@rm1:8088,http://rm2:8088");
        assert_eq!(without_user("u:pa://ss@rm"), "…@rm");
        for plain in ["http://rm:8088/a", "rm:8088", ""] {
            assert_eq!(without_user(plain), plain);
        }
    }
}
