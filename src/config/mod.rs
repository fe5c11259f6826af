//! Settings: one declarative definition each.
