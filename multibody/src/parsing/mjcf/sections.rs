//! The sections of a document that apply to all of its bodies.

use super::assets::Assets;
use super::compiler::CompilerOptions;
use super::defaults::DefaultClasses;

/// Compiler options, default classes and assets, read before bodies are added.
pub(super) struct GlobalSections {
    pub(super) compiler: CompilerOptions,
    pub(super) defaults: DefaultClasses,
    pub(super) assets: Assets,
}
