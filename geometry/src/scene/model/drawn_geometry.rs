//! Forms of geometries for engines.

use super::render_engines::DrawnForm;
use super::state::RegisteredGeometry;

impl RegisteredGeometry {
    /// Returns what engines draw.
    pub(super) fn drawn(&self) -> DrawnForm<'_> {
        match (&self.deformable, &self.skin) {
            (Some(form), _) => DrawnForm::Deformable(form),
            (None, Some(form)) => DrawnForm::Skin(form),
            (None, None) => DrawnForm::Shape(&self.shape),
        }
    }
}
