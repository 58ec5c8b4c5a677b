//! Expansion of `<frame>`, `<replicate>`, `<attach>`, `<composite>` and `<flexcomp>` into bodies,
//! joints and geoms, before anything is added to the plant.
//!
//! Elements inside a frame become children of the body around it and remember the pose of the
//! frame. Copies get new names; elements of other sections that refer to them are copied as well.

mod attach;
mod attached_keys;
mod bodies;
mod cable;
mod copy;
mod expander;
mod flex;
mod flex_points;
mod gmsh;
mod references;
mod renaming;

use super::compiler::CompilerOptions;
use super::flags::PhysicsFlags;
use super::include;
use super::tree::{DiagnosticLog, ElementRef, ElementTree};
use super::{values, vocabulary};
use crate::reading::mjcf_semantics::MjcfSemantics;
use expander::{Expander, Resolve};
use std::path::{Path, PathBuf};
use tarragon_documents::ModelInput;
use tarragon_documents::xml::Reported;

/// A document after expansion.
pub(super) struct Expanded {
    pub(super) tree: ElementTree,
    pub(super) log: DiagnosticLog,
    /// Compilers of the documents, by number.
    pub(super) compilers: Vec<CompilerOptions>,
    /// Flags of the file.
    pub(super) flags: PhysicsFlags,
}

/// Reads a file with all files that it includes and attaches.
pub(super) fn read(
    input: &ModelInput<'_>,
    semantics: MjcfSemantics,
    resolve: Resolve<'_>,
) -> Expanded {
    let (tree, log) = read_document(input, semantics, DiagnosticLog::default());
    let mut expander = Expander {
        tree,
        log,
        compilers: vec![],
        document: 0,
        directory: input.directory.map(Path::to_path_buf),
        open: vec![PathBuf::from(input.file)],
        made: 0,
        bytes: 0,
        key_numbers: 0,
        renamings: vec![],
        resolve,
    };
    let mut flags = PhysicsFlags::default();
    if !expander.tree.elements.is_empty() {
        let root = ElementRef::root(&expander.tree, &expander.log);
        expander.compilers = vec![CompilerOptions::read(root, semantics)];
        if semantics == MjcfSemantics::MuJoCo {
            match expander.expand_document() {
                Ok(()) => flags = PhysicsFlags::apply(&mut expander.tree, &expander.log),
                // Further messages would be misleading: the elements that expansion makes are
                // missing.
                Err(Reported) => expander.tree.elements.clear(),
            }
        }
    }
    Expanded {
        tree: expander.tree,
        log: expander.log,
        compilers: expander.compilers,
        flags,
    }
}

/// Reads a file with all files that it includes, and checks its names and values. The tree is empty
/// after errors about values, because the refused ones are lost and further messages about the file
/// would be misleading.
fn read_document(
    input: &ModelInput<'_>,
    semantics: MjcfSemantics,
    log: DiagnosticLog,
) -> (ElementTree, DiagnosticLog) {
    let (mut tree, log) = include::read(input, log);
    vocabulary::check(&tree, &log, semantics);
    if semantics == MjcfSemantics::MuJoCo && values::check(&tree, &log).is_err() {
        tree.elements.clear();
    }
    (tree, log)
}
