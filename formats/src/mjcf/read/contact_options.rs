//! `<option>`: properties of all contacts of a file.

use super::tree::ElementRef;

/// Friction of all contacts.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactOptions {
    pub(super) is_pyramidal: bool,
    pub(super) impratio: f64,
    pub(super) prevents_slip: bool,
}

impl ContactOptions {
    /// Reads `cone`, `impratio` and `noslip_iterations`.
    pub(super) fn read(root: ElementRef<'_>) -> Self {
        let mut options = Self {
            is_pyramidal: true,
            impratio: 1.0,
            prevents_slip: false,
        };
        for node in root.children_named("option") {
            // Errors were reported.
            if let Ok(Some(cone)) = node.choice("cone", &["pyramidal", "elliptic"]) {
                options.is_pyramidal = cone == "pyramidal";
            }
            match node.number("impratio") {
                Ok(Some(ratio)) if ratio > 0.0 => options.impratio = ratio,
                Ok(Some(other)) => node.warning_at(
                    "impratio",
                    format!("'impratio' must be positive, got {other:?}; it is ignored"),
                ),
                _ => {}
            }
            if let Ok(Some(iterations)) = node.number("noslip_iterations") {
                options.prevents_slip = iterations > 0.0;
            }
        }
        options
    }
}
