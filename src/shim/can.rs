//! What a shim says that it can.

use drover_core::model::Capabilities;

/// The words of `hello.can`: types of actions, and what is asked of one beside.
#[cfg(test)]
pub const WORDS: [&str; 5] = ["duplicate", "restart", "avoid", "rerun", "prefer"];

/// What can be done by a shim that says so in `hello.can`; of words of a later version nothing is known.
pub fn able<'a>(words: impl Iterator<Item = &'a str>) -> Capabilities {
    words.fold(Capabilities::NONE, |can, word| match word {
        "duplicate" => Capabilities { duplicate: true, ..can },
        "restart" => Capabilities { restart: true, ..can },
        "avoid" => Capabilities { avoid: true, ..can },
        "rerun" => Capabilities { rerun: true, ..can },
        "prefer" => Capabilities { prefer: true, ..can },
        _ => can,
    })
}
