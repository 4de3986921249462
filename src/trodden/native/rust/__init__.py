"""Rust: rustc as a front end, its bitcode compiled with probes, and cargo around it."""
