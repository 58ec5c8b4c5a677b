//! Xacro files: what they expand to, models made from them, and mistakes in them.

mod peer;
