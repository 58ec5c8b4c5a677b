//! `<spatial>` where a file is read as by MuJoCo: springs and dampers along paths over sites,
//! around geoms and by pulleys.

use super::builder::MjcfBuilder;
use super::tendons::{IGNORED, TendonForce};
use super::tree::ElementRef;
use nalgebra::Isometry3;
use tarragon_documents::names::missing;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::Shape;
use tarragon_multibody::{
    ForceElement, SpatialTendonConstraint, Tendon, TendonPart, TendonWrap, WrapShape, walk_tendon,
    wrong_tendon_part,
};

/// Poses in the world of the bodies of the document where the springs of joints are at rest,
/// computed when a tendon needs them first.
pub(super) type SpringPoses = Option<crate::Result<Vec<Isometry3<f64>>>>;

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds the limits, the spring and the damper of a tendon, and keeps it for actuators and
    /// equalities.
    pub(super) fn add_spatial_tendon(
        &mut self,
        node: ElementRef<'d>,
        poses: &mut SpringPoses,
    ) -> Parsed<()> {
        node.ignore_attributes(&IGNORED);
        let force = TendonForce::read(node)?;
        let path = self.read_path(node)?;
        let range = self.nonempty_limits(node, "limited", "range")?;
        self.keep_tendon(node, Tendon::Spatial(path.clone()), range);
        if let Some([lower, upper]) = range {
            let plant = &mut self.target.plant;
            let added = plant.add_spatial_tendon_constraint(SpatialTendonConstraint {
                path: path.clone(),
                lower,
                upper,
                stiffness: f64::INFINITY,
                damping: 0.0,
            });
            added.map_err(|e| node.error_at("range", e))?;
        }
        if !force.acts() {
            return Ok(());
        }
        let free_lengths = match force.free_lengths {
            Some(lengths) => lengths,
            None => [self.length_at_rest(node, &path, poses)?; 2],
        };
        let (stiffness, damping) = (force.stiffness, force.damping);
        let element = match (&*path, free_lengths) {
            // Drake's element, which all formats have.
            (
                [
                    TendonPart::Site {
                        body: body_a,
                        position: p_ap,
                    },
                    TendonPart::Site {
                        body: body_b,
                        position: p_bq,
                    },
                ],
                [shortest, longest],
            ) if body_a != body_b && shortest == longest && longest >= 0.0 => {
                ForceElement::LinearSpringDamper {
                    body_a: *body_a,
                    p_ap: *p_ap,
                    body_b: *body_b,
                    p_bq: *p_bq,
                    free_length: longest,
                    stiffness,
                    damping,
                }
            }
            _ => ForceElement::SpatialTendon {
                path,
                free_lengths,
                stiffness,
                damping,
            },
        };
        let added = self.target.plant.add_force_element(element);
        added.map_err(|e| node.error(e))
    }

    fn length_at_rest(
        &self,
        node: ElementRef<'_>,
        path: &[TendonPart],
        poses: &mut SpringPoses,
    ) -> Parsed<f64> {
        let poses = poses.get_or_insert_with(|| self.spring_poses());
        let poses = poses.as_ref().map_err(|e| node.error(e))?;
        let pose = |body| poses[self.own_body(body).index()];
        Ok(walk_tendon(path, pose, |_| {}))
    }

    /// Reads and checks the path of a tendon.
    fn read_path(&self, node: ElementRef<'d>) -> Parsed<Vec<TendonPart>> {
        let (mut path, mut nodes) = (vec![], vec![]);
        let mut previous = None;
        for child in node.children() {
            let site = child.own_text("site").filter(|_| child.tag() == "site");
            if site.is_some() && site == previous {
                let message = format!(
                    "neighbouring sites of <spatial> must be different, got '{}' twice",
                    site.unwrap_or_default()
                );
                return Err(child.error_at("site", message));
            }
            let part = match child.tag() {
                "site" => self.read_site(child)?,
                "geom" => self.read_wrap(child)?,
                "pulley" => read_pulley(child)?,
                // It was reported.
                _ => continue,
            };
            previous = site;
            path.push(part);
            nodes.push(child);
        }
        let Some((number, why)) = wrong_tendon_part(&path) else {
            return Ok(path);
        };
        Err(match nodes.get(number) {
            Some(part) => part.error(format!("<{}> of <spatial>: {why}", part.tag())),
            None => node.error(format!("<spatial>: {why}")),
        })
    }

    fn read_site(&self, node: ElementRef<'_>) -> Parsed<TendonPart> {
        let (body, x_bs) = self.site_frame(node, "site", named(node, "site")?)?;
        Ok(TendonPart::site(body, x_bs.translation.vector))
    }

    fn read_wrap(&self, node: ElementRef<'_>) -> Parsed<TendonPart> {
        let name = named(node, "geom")?;
        let Some((body, pose, shape)) = self.named_geoms.get(name) else {
            return Err(node.error_at(
                "geom",
                missing("geom", name, self.named_geoms.keys().copied()),
            ));
        };
        let (shape, radius) = match shape {
            Shape::Sphere(sphere) => (WrapShape::Sphere, sphere.radius()),
            Shape::Cylinder(cylinder) => (WrapShape::Cylinder, cylinder.radius()),
            other => {
                let message = format!(
                    "'geom' of <spatial> must be a sphere or a cylinder, got '{name}' of type {}",
                    other.type_name()
                );
                return Err(node.error_at("geom", message));
            }
        };
        let side = node.own_text("sidesite");
        let side = side.map(|site| self.site_frame(node, "sidesite", site));
        let side = side.transpose()?;
        Ok(TendonPart::Wrap(TendonWrap {
            body: *body,
            pose: *pose,
            shape,
            radius,
            side: side.map(|(body, x_bs)| (body, x_bs.translation.vector)),
        }))
    }
}

fn read_pulley(node: ElementRef<'_>) -> Parsed<TendonPart> {
    match node.number("divisor")? {
        Some(divisor) => Ok(TendonPart::Pulley { divisor }),
        None => Err(node.error("<pulley> of <spatial> has no attribute 'divisor'")),
    }
}

/// Returns the name that a part of a path must have.
fn named<'d>(node: ElementRef<'d>, attribute: &str) -> Parsed<&'d str> {
    node.own_text(attribute).ok_or_else(|| {
        let tag = node.tag();
        node.error(format!(
            "<{tag}> of <spatial> has no attribute '{attribute}'"
        ))
    })
}
