//! Clients of the ResourceManager, the MapReduce ApplicationMaster and the JobHistoryServer. No decisions.
//!
//! [`site`] and [`discover`] say where the servers are, [`http`] asks them under the ceilings of [`limit`], [`wire`] reads what
//! they answer and [`facts`] checks it. [`rm`], [`am`] and [`history`] are the typed calls. [`schedule`] says what to ask next, as a
//! pure decision, and [`poll`] does so and hands on observations. [`vouch`] is the cluster's word about an application.

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
mod labels;
pub mod limit;
pub mod metrics;
pub mod poll;
mod redirect;
pub mod rm;
pub mod schedule;
pub mod site;
pub mod told;
pub mod vouch;
pub mod wire;
mod xml;
