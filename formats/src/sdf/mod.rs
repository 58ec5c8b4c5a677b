//! Reader and writer of SDFormat.

mod read;
mod write;

pub(crate) use read::parse;
pub(crate) use write::write;
