//! The sections of a document that apply to all of its bodies.

use super::assets::Assets;
use super::compiler::CompilerOptions;
use super::contact_options::ContactOptions;
use super::defaults::DefaultClasses;
use super::flags::PhysicsFlags;
use super::tree::ElementRef;
use std::collections::BTreeSet;

/// Compiler options, default classes and assets, read before bodies are added.
pub(super) struct GlobalSections {
    /// Compilers of the documents, by number: the file itself, then the models that it attaches.
    pub(super) compilers: Vec<CompilerOptions>,
    pub(super) defaults: DefaultClasses,
    pub(super) assets: Assets,
    /// Names of the geoms in `<pair>` elements.
    pub(super) paired_geoms: BTreeSet<String>,
    pub(super) flags: PhysicsFlags,
    pub(super) contact_options: ContactOptions,
}

impl GlobalSections {
    /// Returns the compiler of the document that an element is from.
    pub(super) fn compiler(&self, node: ElementRef<'_>) -> &CompilerOptions {
        &self.compilers[node.document()]
    }
    /// Returns the compiler of the file itself.
    pub(super) fn main_compiler(&self) -> &CompilerOptions {
        &self.compilers[0]
    }
}
