//! What the documents say of the engine is what it does.

use drover_core::model::{CauseKind, Verdict};

#[test]
fn every_verdict_is_explained_in_the_advisory_guide_in_its_own_words() {
    let guide = include_str!("../../../docs/advisory.md");
    for verdict in Verdict::ALL {
        let row = format!("| `{}` | {} |", verdict.label(), verdict.words());
        assert!(guide.contains(&row), "docs/advisory.md lacks the row: {row}");
    }
}

#[test]
fn every_cause_is_explained_in_the_advisory_guide_in_its_own_words() {
    let guide = include_str!("../../../docs/advisory.md");
    for cause in CauseKind::ALL {
        let row = format!("| `{}` | {} |", cause.label(), cause.words());
        assert!(guide.contains(&row), "docs/advisory.md lacks the row: {row}");
    }
}
