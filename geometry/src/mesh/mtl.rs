//! Material files.
