//! Drover's pure engine.
