//! Textures of geoms: images at the coordinates of a mesh, or projected.
//!
//! Source: MuJoCo's documentation ("XML Reference", `asset/material`) and, for meshes, what its
//! renderer does: a mesh with texture coordinates shows flat textures once, whatever `texrepeat`
//! and `texuniform` are, and no cubes. On another mesh, images are projected in the frame of its
//! principal axes of inertia, in metres.

use super::assets::{MaterialAsset, grey};
use super::mesh_asset::MeshAsset;
use super::sections::GlobalSections;
use super::textures::{PlacedTexture, Span};
use super::tree::ElementRef;
use nalgebra::{Isometry3, Point3, Vector3};
use std::path::Path;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::{
    IllustrationProperties, Mesh, PerceptionProperties, ProjectedTexture, Rgba, Shape,
};

/// Texture of a geom.
pub(super) enum GeomTexture<'a> {
    /// The colour alone, with half of the edges of a plane (m).
    LimitedPlane([f64; 2]),
    /// On a primitive, with half of the edges of a plane (m), 0 if it has no end.
    OnPrimitive(PlacedTexture<'a>, [f64; 2]),
    /// On a mesh; without an asset, it is a height field.
    OnMesh(PlacedTexture<'a>, Option<&'a MeshAsset>),
}

/// Texture of a geom, ready to be drawn.
enum Drawn<'a> {
    File(&'a Path),
    Projected(ProjectedTexture),
}

impl GlobalSections {
    /// Returns the texture of a geom, which planes have at least for their size.
    pub(super) fn geom_texture<'a>(
        &'a self,
        node: ElementRef<'_>,
        material: Option<&MaterialAsset>,
        (shape, mesh): (&Shape, Option<&'a MeshAsset>),
    ) -> Parsed<Option<GeomTexture<'a>>> {
        let placed = material.and_then(|m| self.assets.placed_texture(m));
        let half_plane = match shape {
            Shape::HalfSpace(_) if !self.compiler(node).as_drake() => {
                match node.numbers_over_defaults("size")?.as_slice() {
                    [x, y, ..] => [*x, *y],
                    _ => [0.0; 2],
                }
            }
            _ => [0.0; 2],
        };
        let Some(placed) = placed else {
            let is_limited = half_plane.iter().all(|x| *x > 0.0);
            return Ok(is_limited.then_some(GeomTexture::LimitedPlane(half_plane)));
        };
        Ok(Some(match shape {
            Shape::Mesh(_) | Shape::HeightField(_) => GeomTexture::OnMesh(placed, mesh),
            _ => GeomTexture::OnPrimitive(placed, half_plane),
        }))
    }
}

impl GeomTexture<'_> {
    /// Adds the texture to the properties of a visual with a colour; one that cannot be drawn is
    /// left out, which is reported.
    pub(super) fn add_to(
        &self,
        (illustration, perception): (IllustrationProperties, PerceptionProperties),
        (node, name): (ElementRef<'_>, &str),
        shape: &Shape,
        rgba: Option<Rgba>,
    ) -> (IllustrationProperties, PerceptionProperties) {
        let drawn = self.drawn(node, shape, rgba).unwrap_or_else(|why| {
            let message = format!("geom '{name}': the texture is left out: {why}");
            node.warning_at("material", message);
            None
        });
        match drawn {
            None => (illustration, perception),
            Some(Drawn::File(file)) => (
                illustration.with_diffuse_map(file),
                perception.with_diffuse_map(file),
            ),
            Some(Drawn::Projected(texture)) => (
                illustration.with_projected_texture(texture.clone()),
                perception.with_projected_texture(texture),
            ),
        }
    }

    fn drawn(
        &self,
        node: ElementRef<'_>,
        shape: &Shape,
        rgba: Option<Rgba>,
    ) -> Result<Option<Drawn<'_>>, String> {
        let color = rgba.unwrap_or(Rgba::WHITE);
        let projected = match self {
            Self::LimitedPlane(half_plane) => {
                let plain = ProjectedTexture::plain().with_half_extents(*half_plane);
                let plain = plain.map_err(|e| e.to_string())?;
                Some(plain.with_color(rgba.unwrap_or_else(grey)))
            }
            Self::OnPrimitive(placed, half_plane) => match Span::of(shape, *half_plane) {
                Some(span) => Some(placed.on(&span, color)?),
                None => None,
            },
            Self::OnMesh(placed, asset) => {
                let mesh = match shape {
                    Shape::Mesh(mesh) => mesh,
                    Shape::HeightField(field) => {
                        let half = field.calc_bounding_box().1;
                        let span = Span::of_mesh(half, &Isometry3::identity());
                        return Ok(Some(Drawn::Projected(placed.on(&span, color)?)));
                    }
                    _ => return Ok(None),
                };
                if !asset.is_some_and(|asset| asset.has_coordinates()) {
                    let Ok(x_gp) = asset.map_or(Ok(Isometry3::identity()), |asset| {
                        asset.principal_pose(node)
                    }) else {
                        // The error is reported where the mass is read, too.
                        return Ok(None);
                    };
                    let x_sp = asset.map_or(x_gp, |asset| asset.x_gm.inverse() * x_gp);
                    Some(placed.on(&span_of_mesh(mesh, &x_sp)?, color)?)
                } else if let Some(file) = placed.texture.flat_file() {
                    return Ok(Some(Drawn::File(file)));
                } else {
                    Some(placed.at_coordinates(color)?)
                }
            }
        };
        Ok(projected.map(Drawn::Projected))
    }
}

/// Returns where a projection lies on a mesh, given the pose of its frame P in that of the mesh.
fn span_of_mesh(mesh: &Mesh, x_sp: &Isometry3<f64>) -> Result<Span, String> {
    let surface = mesh.surface().map_err(|e| e.to_string())?;
    let in_frame = |v: &Vector3<f64>| x_sp.inverse_transform_point(&Point3::from(*v)).coords;
    let points = surface.vertices().iter().map(in_frame);
    let half = points.fold(Vector3::zeros(), |most, p| most.sup(&p.abs()));
    Ok(Span::of_mesh(half, x_sp))
}
