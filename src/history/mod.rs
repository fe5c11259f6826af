//! Recordings of observations, and their replay through the engine.
