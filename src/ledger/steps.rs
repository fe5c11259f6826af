//! From each version of the schema to the next.

use super::learned_row;
use super::schema::Table;
use super::tables::TABLES;

/// What takes a file from one version of its schema to the next.
pub type Step<'a> = &'a dyn Fn() -> String;

/// Every step so far: as many as the newest version's number. A step that has made files never makes others.
pub const STEPS: &[Step<'static>] = &[&first, &second, &third, &fourth, &fifth, &sixth];

/// The version that settings are kept since.
pub const SETTINGS_SINCE: i64 = 4;
/// The version that what is learned is kept since.
pub const LEARNED_SINCE: i64 = 5;

/// Tables that came with the second version.
const TABLES_OF_SECOND: [&str; 2] = ["clone_plans", "measures"];
/// The table that came with the fourth.
const TABLE_OF_FOURTH: &str = "settings";
/// Columns that came with the second, by table, and what older rows have there.
const COLUMNS_OF_SECOND: [(&str, &str, &str); 4] = [
    ("decisions", "clones", "0"),
    ("decisions", "avoid", "''"),
    ("decisions", "prefer", "''"),
    ("outcomes", "hosts", "''"),
];
/// Columns that came with the third, by table. Older rows have nothing there.
const COLUMNS_OF_THIRD: [(&str, &str); 3] =
    [("enrolments", "share"), ("enrolments", "salt"), ("outcomes", "winner_container_ms")];

/// Columns that came with the sixth, likewise.
const COLUMNS_OF_SIXTH: [(&str, &str); 2] = [("decisions", "restart"), ("outcomes", "near_preferred")];

fn is_of_first(table: &Table) -> bool {
    !is_of_second(table) && table.name != TABLE_OF_FOURTH
}

fn is_of_second(table: &Table) -> bool {
    TABLES_OF_SECOND.contains(&table.name)
}

fn is_later(table: &Table, column: &str) -> bool {
    COLUMNS_OF_THIRD.iter().chain(&COLUMNS_OF_SIXTH).any(|later| *later == (table.name, column))
}

fn first() -> String {
    let had = |table: &Table, column: &str| {
        let second = COLUMNS_OF_SECOND.iter().any(|(of, name, _)| (*of, *name) == (table.name, column));
        !second && !is_later(table, column)
    };
    let tables = TABLES.iter().filter(|table| is_of_first(table));
    tables.map(|table| table.create_of(|column| had(table, column.name))).collect()
}

fn second() -> String {
    let columns = COLUMNS_OF_SECOND.map(|(table, name, before)| {
        format!("ALTER TABLE {table} ADD COLUMN {name} {} NOT NULL DEFAULT {before};\n", kind(table, name))
    });
    let tables = TABLES.iter().filter(|table| is_of_second(table));
    let tables = tables.map(|table| table.create_of(|column| !is_later(table, column.name)));
    columns.into_iter().chain(tables).collect()
}

fn third() -> String {
    add(&COLUMNS_OF_THIRD)
}

fn add(columns: &[(&str, &str)]) -> String {
    let column =
        |(table, name): &(&str, &str)| format!("ALTER TABLE {table} ADD COLUMN {name} {};\n", kind(table, name));
    columns.iter().map(column).collect()
}

fn fourth() -> String {
    TABLES.iter().filter(|table| table.name == TABLE_OF_FOURTH).map(|table| table.create_of(|_| true)).collect()
}

fn fifth() -> String {
    learned_row::TABLES.iter().map(|table| table.create_of(|_| true)).collect()
}

fn sixth() -> String {
    add(&COLUMNS_OF_SIXTH)
}

/// SQLite's word for what a column holds.
fn kind(table: &str, name: &str) -> String {
    let columns = TABLES.iter().filter(|one| one.name == table).flat_map(|one| one.columns);
    columns.filter(|column| column.name == name).map(|column| column.kind.sql()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::schema::Record;
    use crate::ledger::tables::EnrolmentRow;
    use rusqlite::Connection;

    /// Names and types of a file's columns, by table.
    fn columns(file: &Connection) -> Vec<(String, String, String, bool)> {
        let ask = "SELECT m.name, c.name, c.type, c.\"notnull\" FROM sqlite_master m, pragma_table_info(m.name) c
             WHERE m.type = 'table' ORDER BY m.name, c.name";
        let mut all = file.prepare(ask).unwrap();
        let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn all_steps_together_come_to_the_tables_as_they_are_declared() {
        let [stepped, declared] = [(), ()].map(|()| Connection::open_in_memory().unwrap());
        STEPS.iter().for_each(|step| stepped.execute_batch(&step()).unwrap());
        let all = TABLES.iter().chain(learned_row::TABLES);
        all.for_each(|table| declared.execute_batch(&table.create_of(|_| true)).unwrap());
        assert_eq!(columns(&stepped), columns(&declared));
    }

    #[test]
    fn what_the_first_version_has_kept_is_there_in_the_second() {
        let file = Connection::open_in_memory().unwrap();
        file.execute_batch(&first()).unwrap();
        file.execute_batch("INSERT INTO sent VALUES (7, 'p', 3)").unwrap();
        let decisions: Vec<String> =
            columns(&file).into_iter().filter(|column| column.0 == "decisions").map(|column| column.1).collect();
        assert!(!decisions.contains(&"clones".to_owned()) && decisions.contains(&"copies".to_owned()));
        file.execute_batch(&second()).unwrap();
        let kept = file.query_row("SELECT at_ms, decision FROM sent", [], |row| Ok((row.get(0)?, row.get(1)?)));
        assert_eq!(kept.unwrap(), (7, 3));
    }

    #[test]
    fn a_job_enrolled_before_the_third_version_is_kept_and_says_nothing_of_the_share_it_was_drawn_at() {
        let file = Connection::open_in_memory().unwrap();
        [first(), second()].iter().for_each(|step| file.execute_batch(step).unwrap());
        let row = "(7, 'job_1_0001', 'a', 'a', 'ann', 'root', 2, 1, 0, 'late')";
        file.execute_batch(&format!("INSERT INTO enrolments VALUES {row}")).unwrap();
        file.execute_batch(&third()).unwrap();
        let kept = file.query_row("SELECT * FROM enrolments", [], EnrolmentRow::read).unwrap();
        assert_eq!((kept.job.as_str(), kept.held_out, kept.share, kept.salt), ("job_1_0001", false, None, None));
    }
}
