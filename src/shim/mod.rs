//! The protocol with the Java shim: sessions, trust, exchange. No decisions.
