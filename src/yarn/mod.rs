//! Clients of the ResourceManager, the MapReduce ApplicationMaster and the JobHistoryServer. No decisions.

pub mod address;
pub mod am;
mod answer;
pub mod auth;
pub mod discover;
pub mod endpoint;
pub mod error;
pub mod facts;
pub mod history;
pub mod http;
pub mod limit;
pub mod metrics;
pub mod poll;
mod redirect;
pub mod rm;
pub mod schedule;
pub mod site;
pub mod vouch;
pub mod wire;
mod xml;
