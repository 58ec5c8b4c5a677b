//! Expansion of `<frame>`, `<replicate>`, `<attach>`, `<composite>` and `<flexcomp>` into bodies,
//! joints and geoms, before anything is added to the plant.
//!
//! Elements inside a frame become children of the body around it and remember the pose of the
//! frame. Copies get new names; elements of other sections that refer to them are copied as well.

mod attach;
mod bodies;
mod cable;
mod copy;
mod expander;
mod flex;
mod flex_points;
mod references;
mod renaming;

use super::compiler::CompilerOptions;
use super::include;
use super::tree::{DiagnosticLog, ElementRef, ElementTree};
use crate::document::input::ModelInput;
use crate::parsing::mjcf_semantics::MjcfSemantics;
use expander::{Expander, Resolve};
use std::path::{Path, PathBuf};

/// A document after expansion.
pub(super) struct Expanded {
    pub(super) tree: ElementTree,
    pub(super) log: DiagnosticLog,
    /// Compilers of the documents, by number.
    pub(super) compilers: Vec<CompilerOptions>,
    /// The reading of this file.
    pub(super) semantics: MjcfSemantics,
}

/// Reads a file with all files that it includes and attaches. `is_named` tells whether the caller
/// names the model.
pub(super) fn read(
    input: &ModelInput<'_>,
    (mut semantics, is_named): (MjcfSemantics, bool),
    resolve: Resolve<'_>,
) -> Expanded {
    let (tree, log) = include::read(input, DiagnosticLog::default());
    let mut expander = Expander {
        tree,
        log,
        compilers: vec![],
        document: 0,
        directory: input.directory.map(Path::to_path_buf),
        open: vec![PathBuf::from(input.file)],
        made: 0,
        bytes: 0,
        renamings: vec![],
        resolve,
    };
    if !expander.tree.elements.is_empty() {
        let root = ElementRef::root(&expander.tree, &expander.log);
        semantics = semantics.of_file(&expander.tree, root, is_named);
        expander.compilers = vec![CompilerOptions::read(root, semantics)];
        if semantics == MjcfSemantics::MuJoCo {
            // Errors were reported.
            let _ = expander.expand_document();
        }
    }
    Expanded {
        tree: expander.tree,
        log: expander.log,
        compilers: expander.compilers,
        semantics,
    }
}
