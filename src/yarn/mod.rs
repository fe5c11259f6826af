//! Clients of the ResourceManager, the MapReduce ApplicationMaster and the JobHistoryServer. No decisions.

pub mod address;
mod answer;
pub mod auth;
pub mod discover;
pub mod endpoint;
pub mod error;
pub mod http;
pub mod limit;
pub mod metrics;
mod redirect;
pub mod site;
mod xml;
