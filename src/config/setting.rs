//! What a setting is, and the macro that turns one declaration into the table entry and the typed field.

use super::value::{Kind, Value};
use drover_core::model::{Bytes, Millis, Mode};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use url::Url;

/// One setting as declared.
#[derive(Debug)]
pub struct Setting {
    /// Table it stands in; empty for the top of the file.
    pub group: &'static str,
    /// Name within its table.
    pub name: &'static str,
    /// What it holds and allows.
    pub kind: Kind,
    /// Default, as text; empty means not set.
    pub default: &'static str,
    /// May it change without a restart?
    pub reloadable: bool,
    /// What it is for.
    pub doc: &'static str,
}

/// A table of settings.
#[derive(Debug)]
pub struct Group {
    /// Name; empty for the top of the file.
    pub name: &'static str,
    /// What its settings are about.
    pub doc: &'static str,
}

impl Setting {
    /// Its full key, as in `rest.timeout`.
    pub fn key(&self) -> String {
        key(self.group, self.name)
    }

    /// Its environment variable, as in `DROVER_REST_TIMEOUT`.
    pub fn variable(&self) -> String {
        format!("DROVER_{}", self.key().replace('.', "_").to_uppercase())
    }
}

/// The full key of a name in a table.
pub fn key(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{group}.{name}") }
}

/// All values by full key, defaults included.
pub type Values = BTreeMap<String, Value>;

/// A type that a setting's field may have. `None`: the declared kind does not give this type, which a test rules out.
pub trait Field: Sized {
    /// The field for the setting of that key.
    fn field(key: &str, values: &Values) -> Option<Self>;
}

macro_rules! simple {
    ($($type:ty: $pattern:pat => $value:expr;)*) => {$(
        impl Field for $type {
            fn field(key: &str, values: &Values) -> Option<Self> {
                match values.get(key)?.clone() { $pattern => Some($value), _ => None }
            }
        }
    )*};
}
simple! {
    String: Value::Text(text) => text;
    SocketAddr: Value::Address(address) => address;
    bool: Value::Flag(flag) => flag;
    u64: Value::Whole(number) => number;
    f64: Value::Real(number) => number;
    Millis: Value::Span(length) => length;
    Bytes: Value::Size(size) => size;
    Mode: Value::Mode(mode) => mode;
    PathBuf: Value::Text(text) => text.into();
}

impl Field for Vec<Url> {
    fn field(key: &str, values: &Values) -> Option<Self> {
        match values.get(key)? {
            Value::Unset => Some(Vec::new()),
            Value::Urls(urls) => Some(urls.clone()),
            _ => None,
        }
    }
}

impl Field for Vec<String> {
    fn field(key: &str, values: &Values) -> Option<Self> {
        match values.get(key)? {
            Value::Unset => Some(Vec::new()),
            Value::Words(words) => Some(words.clone()),
            _ => None,
        }
    }
}

impl Field for Url {
    fn field(key: &str, values: &Values) -> Option<Self> {
        match values.get(key)? {
            Value::Urls(urls) => urls.first().cloned(),
            _ => None,
        }
    }
}

impl<T: Field> Field for Option<T> {
    fn field(key: &str, values: &Values) -> Option<Self> {
        match values.get(key)? {
            Value::Unset => Some(None),
            _ => T::field(key, values).map(Some),
        }
    }
}

impl Field for BTreeMap<String, Mode> {
    fn field(key: &str, values: &Values) -> Option<Self> {
        let entry = |(full, value): (&String, &Value)| match value {
            Value::Mode(mode) => Some((full.strip_prefix(key)?.strip_prefix('.')?.to_owned(), *mode)),
            _ => None,
        };
        Some(values.iter().filter_map(entry).collect())
    }
}

/// Declares tables of settings: for each, one field of a struct and one entry of `SETTINGS`.
macro_rules! settings {
    ($(
        $(#[doc = $about:literal])+
        $member:ident: $Group:ident = $table:literal {
            $( $(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:literal, $kind:expr $(, $live:ident)?; )*
        }
    )*) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone, PartialEq)]
            pub struct $Group { $( $(#[doc = $doc])+ pub $name: $type, )* }
        )*
        /// Every setting with its type.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Config { $( $(#[doc = $about])+ pub $member: $Group, )* }
        /// Every table of settings, in the order of the documentation.
        pub static GROUPS: &[Group] = &[ $( Group { name: $table, doc: concat!($($about, "\n"),+) }, )* ];
        /// Every setting, in the order of the documentation.
        pub static SETTINGS: &[Setting] = &[ $( $( Setting {
            group: $table,
            name: stringify!($name),
            kind: $kind,
            default: $default,
            reloadable: settings!(@live $($live)?),
            doc: concat!($($doc, "\n"),+),
        }, )* )* ];
        impl Config {
            /// The typed settings; `None` when a declaration's kind does not give its field's type, which a test rules out.
            pub(super) fn from_values(values: &Values) -> Option<Config> {
                Some(Config { $( $member: $Group { $(
                    $name: Field::field(&key($table, stringify!($name)), values)?,
                )* }, )* })
            }
        }
    };
    (@live reloadable) => { true };
    (@live) => { false };
}
pub(super) use settings;
