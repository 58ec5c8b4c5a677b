//! The sections of a document that hold for all of its bodies.

use super::assets::Assets;
use super::compiler::CompilerOptions;
use super::defaults::DefaultClasses;

/// What is known before bodies are added.
pub(super) struct GlobalSections {
    pub(super) compiler: CompilerOptions,
    pub(super) defaults: DefaultClasses,
    pub(super) assets: Assets,
}
