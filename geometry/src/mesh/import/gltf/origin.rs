//! The file that messages are about.

use crate::error::{Error, parse_error};
use crate::mesh::import::origin::FileOrigin;

/// A glTF file and where its buffers and images are.
#[derive(Clone, Copy, Debug)]
pub(super) struct GltfOrigin<'a>(pub(super) FileOrigin<'a>);

impl GltfOrigin<'_> {
    pub(super) fn error(self, message: impl std::fmt::Display) -> Error {
        parse_error(self.0.path, 0, message.to_string())
    }
    pub(super) fn unsupported(self, message: impl std::fmt::Display) -> Error {
        Error::unsupported(format!("{}: {message}", self.0.path.display()))
    }
}
