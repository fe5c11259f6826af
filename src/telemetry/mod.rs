//! Prometheus metrics and logs.
