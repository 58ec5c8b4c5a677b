//! Kinds of images.

/// Kind of an image, which decides the materials of the scene and the form of the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImageKind {
    Color,
    Depth,
    Label,
}

impl ImageKind {
    /// Returns the name of the kind in requests and file names.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Color => "color",
            Self::Depth => "depth",
            Self::Label => "label",
        }
    }
}
