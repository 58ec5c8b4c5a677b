//! Forms of geometries for engines.

use super::render_engines::DrawnForm;
use super::state::RegisteredGeometry;

impl RegisteredGeometry {
    /// Returns what engines draw.
    pub(super) fn drawn(&self) -> DrawnForm<'_> {
        match &self.deformable {
            Some(form) => DrawnForm::Deformable(form),
            None => DrawnForm::Shape(&self.shape),
        }
    }
}
