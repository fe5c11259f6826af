//! What a table of the ledger is, and the macro that turns one declaration into the table, its row's type, its documentation and its exports.

pub use super::cell::Kind;
use rusqlite::types::Value;

/// A table as declared.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Columns that together name a row; the first row of a name stands.
    pub key: &'static str,
    /// What its rows are.
    pub doc: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
}

/// A column as declared.
#[derive(Debug)]
pub struct Column {
    /// Its name, which ends in its unit.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// May it be absent?
    pub optional: bool,
    /// What it says.
    pub doc: &'static str,
}

/// A row's type.
pub trait Record: Sized {
    /// Its table.
    const TABLE: &'static Table;

    /// Its values, in the order of the columns.
    fn values(&self) -> Vec<Value>;

    /// A row that was read.
    ///
    /// # Errors
    /// Where a column is missing or holds something else.
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self>;

    /// To be written.
    fn row(&self) -> Row {
        Row { table: Self::TABLE, values: self.values() }
    }
}

/// A row on its way to the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its table.
    pub table: &'static Table,
    /// Its values, in the order of the columns.
    pub values: Vec<Value>,
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.name == other.name
    }
}

impl Table {
    /// The statements that make it with those of its columns.
    pub fn create_of(&self, has: impl Fn(&Column) -> bool) -> String {
        let column = |one: &Column| {
            let always = if one.optional { "" } else { " NOT NULL" };
            format!("  {} {}{always},\n", one.name, one.kind.sql())
        };
        let columns: String = self.columns.iter().filter(|one| has(one)).map(column).collect();
        let Table { name, key, .. } = self;
        format!(
            "CREATE TABLE {name} (\n{columns}  UNIQUE ({key})\n) STRICT;\nCREATE INDEX {name}_at ON {name} (at_ms);\n"
        )
    }

    /// The statement that adds a row. A row that is there stays; one without what it has to have is refused.
    pub fn insert(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let places = vec!["?"; names.len()].join(", ");
        format!("INSERT INTO {} ({}) VALUES ({places}) ON CONFLICT DO NOTHING", self.name, names.join(", "))
    }
}

/// One column of a row that was read.
pub(super) fn cell<T: super::cell::Cell>(row: &rusqlite::Row<'_>, name: &str) -> rusqlite::Result<T> {
    let value: Value = row.get(name)?;
    let kind = value.data_type();
    T::of(value).ok_or_else(|| rusqlite::Error::InvalidColumnType(0, name.to_owned(), kind))
}

/// Declares tables: for each, the type of its rows and one entry of `TABLES`.
macro_rules! tables {
    ($(
        $(#[doc = $about:literal])+
        $Row:ident = $table:literal, key $key:literal {
            $( $(#[doc = $doc:literal])+ $name:ident: $type:ty, )*
        }
    )*) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone, PartialEq)]
            pub struct $Row { $( $(#[doc = $doc])+ pub $name: $type, )* }

            impl Record for $Row {
                const TABLE: &'static Table = &Table {
                    name: $table,
                    key: $key,
                    doc: concat!($($about, "\n"),+),
                    columns: &[ $( Column {
                        name: stringify!($name),
                        kind: <$type as Cell>::KIND,
                        optional: <$type as Cell>::OPTIONAL,
                        doc: concat!($($doc, "\n"),+),
                    }, )* ],
                };

                fn values(&self) -> Vec<Value> {
                    vec![ $( Cell::value(&self.$name), )* ]
                }

                fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<$Row> {
                    Ok($Row { $( $name: cell(row, stringify!($name))?, )* })
                }
            }
        )*
        /// Every table, in the order of the documentation.
        pub static TABLES: &[&Table] = &[ $( <$Row as Record>::TABLE, )* ];
    };
}
pub(super) use tables;
