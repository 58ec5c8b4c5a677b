//! Multibody systems.
