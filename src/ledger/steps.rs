//! From each version of the schema to the next.

use super::schema::Table;
use super::tables::TABLES;

/// What takes a file from one version of its schema to the next.
pub type Step<'a> = &'a dyn Fn() -> String;

/// Every step so far: as many as the newest version's number. A step that has made files never makes others.
pub const STEPS: &[Step<'static>] = &[&first, &second];

/// Tables that came with the second version.
const TABLES_OF_SECOND: [&str; 2] = ["clone_plans", "measures"];
/// Columns that came with it, by table, and what older rows have there.
const COLUMNS_OF_SECOND: [(&str, &str, &str); 4] = [
    ("decisions", "clones", "0"),
    ("decisions", "avoid", "''"),
    ("decisions", "prefer", "''"),
    ("outcomes", "hosts", "''"),
];

fn is_of_first(table: &Table) -> bool {
    !TABLES_OF_SECOND.contains(&table.name)
}

fn first() -> String {
    let had = |table: &Table, column: &str| {
        !COLUMNS_OF_SECOND.iter().any(|(of, name, _)| (*of, *name) == (table.name, column))
    };
    let tables = TABLES.iter().filter(|table| is_of_first(table));
    tables.map(|table| table.create_of(|column| had(table, column.name))).collect()
}

fn second() -> String {
    let kind = |table: &str, name: &str| {
        let columns = TABLES.iter().filter(|one| one.name == table).flat_map(|one| one.columns);
        columns.filter(|column| column.name == name).map(|column| column.kind.sql()).collect::<String>()
    };
    let columns = COLUMNS_OF_SECOND.map(|(table, name, before)| {
        format!("ALTER TABLE {table} ADD COLUMN {name} {} NOT NULL DEFAULT {before};\n", kind(table, name))
    });
    let tables = TABLES.iter().filter(|table| !is_of_first(table)).map(|table| table.create_of(|_| true));
    columns.into_iter().chain(tables).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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
        TABLES.iter().for_each(|table| declared.execute_batch(&table.create_of(|_| true)).unwrap());
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
}
