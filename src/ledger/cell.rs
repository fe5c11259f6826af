//! What a column of the ledger may hold, and how a field of ours is kept in it.

use drover_core::model::{Millis, Time};
use rusqlite::types::Value;

/// A column's type, in SQLite and in exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Whole,
    /// A number.
    Real,
    /// Text.
    Text,
}

impl Kind {
    /// SQLite's word for it.
    pub fn sql(self) -> &'static str {
        match self {
            Kind::Whole => "INTEGER",
            Kind::Real => "REAL",
            Kind::Text => "TEXT",
        }
    }
}

/// A type that a field of a row may have.
pub trait Cell: Sized {
    /// Its column's type.
    const KIND: Kind;
    /// May it be absent?
    const OPTIONAL: bool = false;

    /// As it is kept.
    fn value(&self) -> Value;

    /// As it was kept; `None` where something else was.
    fn of(value: Value) -> Option<Self>;
}

/// SQLite's whole numbers have a sign. What does not fit is kept as the largest.
fn whole(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn as_whole(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

macro_rules! cells {
    ($($type:ty: $kind:ident, $this:ident => $value:expr, $kept:ident => $read:expr;)*) => {$(
        impl Cell for $type {
            const KIND: Kind = Kind::$kind;

            fn value(&self) -> Value {
                let $this = self;
                $value
            }

            fn of($kept: Value) -> Option<Self> {
                $read
            }
        }
    )*};
}
cells! {
    u64: Whole, this => whole(*this), kept => as_whole(&kept);
    i64: Whole, this => Value::Integer(*this), kept => match kept { Value::Integer(number) => Some(number), _ => None };
    u32: Whole, this => whole((*this).into()), kept => as_whole(&kept).and_then(|number| number.try_into().ok());
    Time: Whole, this => whole(this.0), kept => as_whole(&kept).map(Time);
    Millis: Whole, this => whole(this.0), kept => as_whole(&kept).map(Millis);
    bool: Whole, this => whole((*this).into()), kept => as_whole(&kept).map(|number| number != 0);
    f64: Real, this => Value::Real(*this), kept => match kept { Value::Real(number) => Some(number), _ => None };
    String: Text, this => Value::Text(this.clone()), kept => match kept { Value::Text(text) => Some(text), _ => None };
}

impl<T: Cell> Cell for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::value)
    }

    fn of(value: Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            other => T::of(other).map(Some),
        }
    }
}
