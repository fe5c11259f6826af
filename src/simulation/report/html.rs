//! The report as one page that needs nothing else: plots and tables within it, no script, nothing fetched.

use super::{Origin, dir, plot};
use crate::simulation::tables::Table;
use crate::simulation::told::Told;
use askama::Template;

/// A plot within the page.
pub struct Figure {
    /// What it shows.
    pub caption: String,
    /// The plot, which is trusted: our own SVG.
    pub svg: String,
}

#[derive(Template)]
#[template(path = "simulation.html")]
struct Page<'a> {
    mark: &'static str,
    told: &'a Told,
    origin: &'a Origin,
    scenario: String,
    tables: &'a [Table],
    figures: &'a [Figure],
}

/// The page.
pub fn page(told: &Told, origin: &Origin, tables: &[Table], figures: &[Figure]) -> askama::Result<String> {
    Page { mark: dir::MARK, told, origin, scenario: plot::clean(&origin.scenario), tables, figures }.render()
}
