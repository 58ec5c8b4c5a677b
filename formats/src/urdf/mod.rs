//! Reader and writer of URDF.

mod read;
mod write;

pub(crate) use read::parse;
pub(crate) use write::write;
