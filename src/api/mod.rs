//! The operators' REST interface.

mod error;
pub mod listen;
mod principal;

pub use error::{ApiError, ErrorBody};
pub use principal::{Doorman, Principal, Role};
