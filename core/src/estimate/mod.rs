//! Numbers from facts: progress to rate to time left, and the time of a fresh copy. Knows no policy.

pub mod by_kind;
pub mod calibration;
pub mod cause;
pub mod distribution;
pub mod exact;
pub mod fresh;
pub mod hadoop;
pub mod health;
pub mod input;
pub mod location;
pub mod losses;
pub mod lost;
pub mod lpt;
pub mod machine;
pub mod new_copy;
pub mod node;
pub mod odds;
pub mod omega;
mod outlook;
pub mod pace;
pub mod phase;
pub mod prior;
pub mod remaining;
pub mod restart;
pub mod runs;
pub mod sample;
pub mod shuffle;
pub mod spares;
pub mod stats;
pub mod straggle;
pub mod time_left;
pub mod windows;

pub use cause::Causes;
pub use fresh::FreshCopy;
pub use sample::Sample;
pub use time_left::{Estimator, Left};
