//! The report as one page that needs nothing else: no script, nothing fetched.

use super::tables;
use crate::ledger::report::Report;
use crate::simulation::tables::Table;
use crate::telemetry::VERSION;
use askama::Template;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    version: &'a str,
    heading: String,
    tables: Vec<Table>,
    holdout: String,
    notes: [&'static str; 5],
}

/// The page.
pub fn page(report: &Report) -> askama::Result<String> {
    let tables = tables::changes(report).into_iter().chain(tables::tables(report)).collect();
    let holdout = tables::holdout(report);
    Page { version: VERSION, heading: tables::heading(report), tables, holdout, notes: tables::NOTES }.render()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_fetches_nothing_and_what_it_is_told_stays_text() {
        let user = Some("<script>alert(1)</script>".to_owned());
        let page = page(&Report { user, ..tables::tests::report() }).unwrap();
        assert!(!page.contains("<script") && !page.contains("src=") && page.contains("default-src 'none'"), "{page}");
        assert!(page.contains("class=\"lines\"") && page.contains("pre-line"), "a policy's verdict has its own line");
        assert!(page.contains("drover") && page.contains("not enough data yet"), "{page}");
    }
}
