//! Clients of the ResourceManager, the MapReduce ApplicationMaster and the JobHistoryServer. No decisions.

pub mod address;
pub mod discover;
pub mod site;
mod xml;
