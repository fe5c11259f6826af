//! The operators' REST interface.
