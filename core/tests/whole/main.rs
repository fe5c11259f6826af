//! The engine as a whole, over scripted clusters; the papers' examples; properties. One binary: each more would be linked anew.

mod acting;
mod blacklist;
mod budgets;
mod calibration;
mod causes;
mod common;
mod debounce;
mod docs;
mod dolly;
mod drover;
mod ends;
mod mantri;
mod native;
mod new_copies;
mod papers;
mod policies;
mod properties;
mod purity;
mod racks;
mod reports;
mod scaling;
mod sim;
mod slow_nodes;
mod stragglers;
mod suspects;
mod turning;
