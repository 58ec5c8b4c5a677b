//! Names of geometry pairs.

use crate::Result;
use tarragon_geometry::{GeometryId, SceneGraphInspector};

/// Returns the name of a pair, `{frame}.{geometry}+{frame}.{geometry}`.
pub(super) fn of_pair(
    inspector: &SceneGraphInspector<'_>,
    (a, b): (GeometryId, GeometryId),
) -> Result<String> {
    Ok(format!(
        "{}+{}",
        of_geometry(inspector, a)?,
        of_geometry(inspector, b)?
    ))
}

fn of_geometry(inspector: &SceneGraphInspector<'_>, id: GeometryId) -> Result<String> {
    let frame = inspector.frame_id(id)?;
    let others = inspector.frame_ids().filter(|f| *f != frame);
    let others = others.filter_map(|f| inspector.frame_name(f).ok());
    let frame_name = unscoped_if_unique(inspector.frame_name(frame)?, others);
    let siblings = inspector.geometry_ids().filter(|g| *g != id);
    let siblings = siblings.filter(|g| inspector.frame_id(*g).ok() == Some(frame));
    let siblings = siblings.filter_map(|g| inspector.name(g).ok());
    let name = unscoped_if_unique(inspector.name(id)?, siblings);
    // A slash would add a branch to the tree.
    Ok(format!("{frame_name}.{name}").replace('/', "_"))
}

/// Returns the name without its model if no other name equals it without its model.
fn unscoped_if_unique<'a>(name: &'a str, mut others: impl Iterator<Item = &'a str>) -> &'a str {
    let short = last(name);
    if others.any(|other| last(other) == short) {
        return name;
    }
    short
}

/// Returns the name without its model.
pub(crate) fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_is_kept_only_in_names_that_are_ambiguous_without_it() {
        let others = ["left::hand", "right::hand"];
        let name = |n| unscoped_if_unique(n, others.iter().copied().filter(move |o| *o != n));
        assert_eq!(name("left::hand"), "left::hand");
        assert_eq!(name("left::arm"), "arm");
    }
}
