//! Flattening: model directives without references to other files of directives.

use super::elements::{
    AddDirectives, MAX_DEPTH, MAX_FILES, ModelDirective, ModelDirectives, too_many,
};
use crate::{Error, Result};
use tarragon_documents::PackageMap;
use tarragon_documents::names::scoped;

/// Replaces each `add_directives` with the directives of its file, whose names get the scope
/// (Drake's `FlattenModelDirectives`). All other directives stay as they are.
///
/// # Errors
/// Returns an error if a file cannot be found or read, or if the files are too many, as in a cycle.
pub fn flatten_model_directives(
    directives: &ModelDirectives,
    packages: &PackageMap,
) -> Result<ModelDirectives> {
    let mut flat = ModelDirectives::default();
    let mut num_files = 0;
    flatten(
        directives,
        packages,
        ("", 0),
        &mut num_files,
        &mut flat.directives,
    )?;
    Ok(flat)
}

fn flatten(
    directives: &ModelDirectives,
    packages: &PackageMap,
    (scope, depth): (&str, usize),
    num_files: &mut usize,
    out: &mut Vec<ModelDirective>,
) -> Result<()> {
    for directive in &directives.directives {
        match directive {
            ModelDirective::AddDirectives(AddDirectives {
                file,
                model_namespace,
            }) => {
                *num_files += 1;
                if depth >= MAX_DEPTH || *num_files > MAX_FILES {
                    return Err(too_many(file));
                }
                let path = packages.resolve_file(file, None).map_err(Error::invalid)?;
                let inner = ModelDirectives::load(path)?;
                let scope = match model_namespace {
                    Some(namespace) => scoped(scope, namespace),
                    None => scope.into(),
                };
                flatten(&inner, packages, (&scope, depth + 1), num_files, out)?;
            }
            other => out.push(with_scope(other.clone(), scope)),
        }
    }
    Ok(())
}

/// Prefixes the names in a directive with a scope.
fn with_scope(mut directive: ModelDirective, scope: &str) -> ModelDirective {
    let join = |name: &mut String| *name = scoped(scope, name);
    let frame = |name: &mut String| {
        if name != "world" {
            *name = scoped(scope, name);
        }
    };
    match &mut directive {
        ModelDirective::AddModel(d) => {
            join(&mut d.name);
            let poses = d.default_free_body_pose.values_mut();
            poses.filter_map(|p| p.base_frame.as_mut()).for_each(frame);
        }
        ModelDirective::AddModelInstance(d) => join(&mut d.name),
        ModelDirective::AddFrame(d) => {
            // A frame without a scope belongs to the model instance of its base frame.
            if d.name.contains("::") {
                join(&mut d.name);
            }
            d.x_pf.base_frame.iter_mut().for_each(frame);
        }
        ModelDirective::AddWeld(d) => [&mut d.parent, &mut d.child].into_iter().for_each(frame),
        ModelDirective::AddCollisionFilterGroup(d) if !scope.is_empty() => {
            d.model_namespace = Some(match &d.model_namespace {
                Some(namespace) => scoped(scope, namespace),
                None => scope.into(),
            });
        }
        ModelDirective::AddCollisionFilterGroup(_) | ModelDirective::AddDirectives(_) => {}
    }
    directive
}
