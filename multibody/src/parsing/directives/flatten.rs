//! Directives without references to other files of directives.

use super::model_directives::{
    AddDirectives, MAX_DEPTH, MAX_FILES, ModelDirective, ModelDirectives, too_many,
};
use crate::error::{Error, Result};
use crate::names::scoped;
use crate::packages::PackageMap;

/// The same directives without any `add_directives`: the files are read and their names get the
/// scope (Drake's `FlattenModelDirectives`). What is flat stays as it is.
///
/// # Errors
/// If a file can not be found or read, or files refer to themselves.
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

/// A directive whose names have a scope.
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
            // A name without scope goes into the instance of the base frame.
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
