//! The REST clients against servers that answer as Hadoop does, and as it should not.

mod bad_answers;
mod canary;
mod doctor;
mod ends;
mod failover;
mod fake;
mod labels;
mod own_proxy;
mod polling;
mod recorded;
mod redirects;
mod tls;
mod vouching;
