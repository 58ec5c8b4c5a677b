//! The macro of tarragon-lcm.
