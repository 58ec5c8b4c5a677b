//! Images as files: formats, names, the system that writes them while a simulation runs, videos.

pub mod color_map;
pub(crate) mod file_name;
mod format_spec;
pub(crate) mod io;
pub(crate) mod video;
pub(crate) mod writer;
