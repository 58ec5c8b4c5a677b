//! Reader and writer of MJCF.

mod read;
mod write;

pub(crate) use read::parse;
pub(crate) use write::write;
