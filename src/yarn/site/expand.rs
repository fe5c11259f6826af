//! `${…}` in Hadoop's configuration values.

/// Substitutions in one value before Hadoop gives up (`Configuration.MAX_SUBST`).
pub const MAX_SUBSTITUTIONS: usize = 20;

/// Replaces the innermost `${name}` by what `lookup` says, again and again, as `Configuration.substituteVars` does.
///
/// A name that `lookup` does not know, or one that leads back to itself, ends the work with the text as it then is.
/// `None` when more than [`MAX_SUBSTITUTIONS`] would be needed.
pub fn expand(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = text.to_owned();
    let mut seen: Vec<String> = Vec::new();
    for _ in 0..MAX_SUBSTITUTIONS {
        let Some((start, end)) = innermost(&text) else { return Some(text) };
        let name = &text[start + 2..end];
        let Some(value) = lookup(name) else { return Some(text) };
        let literal = &text[start..=end];
        if value.contains(literal) || seen.iter().any(|s| s == literal && value.contains("${")) {
            return Some(text);
        }
        seen.push(literal.to_owned());
        text.replace_range(start..=end, &value);
    }
    innermost(&text).is_none().then_some(text)
}

/// Byte range from `$` to `}` of the first `${…}` that holds no other, no `$`, no brace and no space.
fn innermost(text: &str) -> Option<(usize, usize)> {
    let mut open = None;
    let bytes = text.as_bytes();
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if i > 0 && bytes[i - 1] == b'$' => open = Some(i - 1),
            b'$' | b' ' | b'{' => open = None,
            b'}' => match open.take() {
                Some(start) if start + 2 < i => return Some((start, i)),
                _ => {}
            },
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn with(pairs: &[(&str, &str)], text: &str) -> Option<String> {
        let map: HashMap<_, _> = pairs.iter().copied().collect();
        expand(text, |name| map.get(name).map(|v| (*v).to_owned()))
    }

    #[test]
    fn nested_variables_are_expanded_from_the_inside() {
        let pairs = [("a", "x"), ("bx", "deep"), ("c", "${a}-${b${a}}")];
        assert_eq!(with(&pairs, "<${c}>").unwrap(), "<x-deep>");
        assert_eq!(with(&pairs, "${a}${a}").unwrap(), "xx");
    }

    #[test]
    fn what_is_unknown_or_malformed_is_left_as_it_stands() {
        for text in ["${unknown}/y", "${}", "${a b}", "$a", "}{$", "${", "${a"] {
            assert_eq!(with(&[], text).unwrap(), text);
        }
    }

    #[test]
    fn a_variable_that_leads_to_itself_ends_and_an_endless_one_is_refused() {
        assert!(with(&[("a", "${a}")], "${a}").is_some());
        assert!(with(&[("a", "${b}"), ("b", "${a}")], "${a}").is_some());
        let chain: Vec<(String, String)> = (0..40).map(|i| (format!("v{i}"), format!("${{v{}}}", i + 1))).collect();
        let chain: Vec<(&str, &str)> = chain.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(with(&chain, "${v0}"), None);
        assert!(with(&chain, "${v25}").is_some());
    }

    proptest! {
        #[test]
        fn expansion_always_ends_whatever_the_properties_say(
            map in proptest::collection::hash_map("[a-d]", "([a-d]|\\$\\{[a-d]\\}|\\$\\{|\\}|é| ){0,6}", 0..5),
            text in "([a-d]|\\$\\{[a-d]\\}|\\$\\{|\\}|é| ){0,12}",
        ) {
            let longest = map.values().map(String::len).max().unwrap_or(0);
            if let Some(out) = expand(&text, |name| map.get(name).cloned()) {
                prop_assert!(out.len() <= text.len() + MAX_SUBSTITUTIONS * longest);
            }
        }
    }
}
