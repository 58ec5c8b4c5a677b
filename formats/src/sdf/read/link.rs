//! Rigid links: their mass properties, default poses, geometry and sensors.

use super::builder::{CurrentModel, SdfBuilder};
use super::element::{Element, truth};
use super::frames::NodeId;
use super::pose::Pose;
use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon_documents::xml::Parsed;
use tarragon_geometry::{Shape, calc_mass_properties};
use tarragon_multibody::{SpatialInertia, check_rotational, rotational_inertia};

const IGNORED: [&str; 10] = [
    "enable_wind",
    "self_collide",
    "must_be_base_link",
    "velocity_decay",
    "projector",
    "audio_sink",
    "audio_source",
    "battery",
    "light",
    "particle_emitter",
];

/// Density (kg/m^3) if the file gives none.
const DEFAULT_DENSITY: f64 = 1000.0;

impl SdfBuilder<'_, '_> {
    pub(super) fn link(
        &mut self,
        node: NodeId,
        element: &Element,
        current: CurrentModel<'_>,
    ) -> Parsed<()> {
        let report = self.report;
        if element.child("drake:deformable_properties").is_some() {
            return self.deformable_link(node, element, current);
        }
        report.check_children(element, &IGNORED, &[]);
        for (tag, usual) in [("gravity", true), ("kinematic", false)] {
            if element.flag(tag, usual) != usual {
                let instead = match tag {
                    "gravity" => "gravity acts on all bodies of a model",
                    _ => "the link moves by its joints and forces",
                };
                let message = format!("<{tag}> is {}, which is ignored: {instead}", !usual);
                report.warning(element, message);
            }
        }
        let inertia = self.inertia(node, element, current)?;
        let plant = &mut *self.target.plant;
        let body = plant
            .add_rigid_body(element.name(), current.instance, inertia)
            .map_err(|e| report.error(element, e))?;
        self.graph.set_body(node, body);
        self.graph.set_frame(node, plant[body].body_frame());
        let x_wb = self.graph.in_world(node).isometry();
        plant
            .set_default_free_body_pose(body, x_wb)
            .map_err(|e| report.error(element, e))?;
        if self.target.has_scene() {
            self.link_geometry(node, body, element, current);
        }
        self.sensors(node, body, element, current)
    }

    /// Returns the pose of an element on a link, `X_LG`.
    pub(super) fn pose_on_link(
        &self,
        link: NodeId,
        element: &Element,
        current: CurrentModel<'_>,
    ) -> Parsed<Pose> {
        match element.relative_to() {
            None => Ok(element.pose()),
            Some(name) => {
                let what = format!("relative_to of the pose of '{}'", element.name());
                let base = self.find(current.scope, name, &what, element)?;
                let x = self.graph.relative(link, base, current.scope);
                Ok(x.then(&element.pose()))
            }
        }
    }

    /// Reads the mass properties. An inertia that is physically impossible is replaced with a
    /// warning, as in Drake.
    fn inertia(
        &self,
        node: NodeId,
        link: &Element,
        current: CurrentModel<'_>,
    ) -> Parsed<SpatialInertia> {
        // The mass of a link without <inertial> is 1 kg.
        let default = || SpatialInertia::from_central(1.0, Vector3::zeros(), Matrix3::identity());
        let Some(inertial) = link.child("inertial") else {
            return default().map_err(|e| self.report.error(link, e));
        };
        let ignored = ["fluid_added_mass", "auto_inertia_params"];
        self.report.check_children(inertial, &ignored, &[]);
        if truth(inertial.filled("auto").unwrap_or("false")) == Some(true) {
            return self.inertia_of_shapes(node, link, inertial, current);
        }
        let mass = inertial.number("mass").unwrap_or(1.0);
        let entries = inertial.child("inertia");
        let entry = |name: &str, default: f64| {
            let found = entries.and_then(|e| e.number(name));
            found.unwrap_or(default)
        };
        let moments = ["ixx", "iyy", "izz"].map(|name| entry(name, 1.0));
        let products = ["ixy", "ixz", "iyz"].map(|name| entry(name, 0.0));
        if mass == 0.0 && moments == [0.0; 3] && products == [0.0; 3] {
            return Ok(SpatialInertia::zero());
        }
        let x_bbi = inertial.pose().isometry();
        let p_bobcm_b = x_bbi.translation.vector;
        let unturned = rotational_inertia(moments, products, &Isometry3::identity());
        let i_bbcm_b = rotational_inertia(moments, products, &x_bbi);
        let found = if mass > 0.0 {
            check_rotational(&unturned)
                .and_then(|()| SpatialInertia::from_central(mass, p_bobcm_b, i_bbcm_b))
                .map_err(|e| e.to_string())
        } else {
            Err(format!("the mass must be positive, got {mass:?} kg"))
        };
        found.or_else(|why| {
            let plausible = SpatialInertia::plausible(mass, p_bobcm_b);
            let plausible = plausible.map_err(|e| self.report.error(inertial, e))?;
            let message = format!(
                "link '{}': {why}; the inertia of a sphere of water of {:?} kg is used instead",
                link.name(),
                plausible.mass()
            );
            self.report.warning(inertial, message);
            Ok(plausible)
        })
    }

    /// Computes the mass properties of a link's collision shapes.
    fn inertia_of_shapes(
        &self,
        node: NodeId,
        link: &Element,
        inertial: &Element,
        current: CurrentModel<'_>,
    ) -> Parsed<SpatialInertia> {
        let report = self.report;
        for tag in ["pose", "inertia"] {
            if let Some(child) = inertial.child(tag) {
                let message = format!(
                    "link '{}': <{tag}> must not be given together with auto=\"true\", which \
                     computes it; remove one of them",
                    link.name()
                );
                return Err(report.error(child, message));
            }
        }
        let density = inertial.number("density").unwrap_or(DEFAULT_DENSITY);
        let (mut mass, mut moment) = (0.0, Vector3::zeros());
        let mut i_bbo_b = Matrix3::zeros();
        for collision in link.all("collision") {
            let density = collision.number("density").unwrap_or(density);
            let geometry = report.required_child(collision, "geometry")?;
            let x_bg = self.pose_on_link(node, collision, current)?.isometry();
            let (shape, x) = self.solid(geometry)?;
            let x_bs = x_bg * x;
            let solid = calc_mass_properties(&shape, density);
            let solid = solid.map_err(|e| report.error(geometry, e))?;
            let r = x_bs.rotation.to_rotation_matrix();
            let p = x_bs.transform_point(&solid.center_of_mass().into()).coords;
            let central = r * solid.inertia_about_center_of_mass() * r.inverse();
            mass += solid.mass();
            moment += p * solid.mass();
            i_bbo_b += central + shifted(solid.mass(), &p);
        }
        if mass <= 0.0 {
            let message = format!(
                "link '{}': auto=\"true\" needs a <collision> with a solid shape",
                link.name()
            );
            return Err(report.error(inertial, message));
        }
        let center = moment / mass;
        let central = i_bbo_b - shifted(mass, &center);
        // A mass given together with auto="true" replaces the density.
        let wanted = inertial.number("mass").unwrap_or(mass);
        SpatialInertia::from_central(
            wanted,
            center,
            (central + central.transpose()) * (0.5 * wanted / mass),
        )
        .map_err(|e| report.error(inertial, e))
    }

    /// Reads a shape that has a volume, and its pose in the frame of the geometry.
    fn solid(&self, geometry: &Element) -> Parsed<(Shape, Isometry3<f64>)> {
        let solid = match geometry.child("cone") {
            Some(cone) => Some(self.cone(cone)?),
            None => self.shape(geometry)?,
        };
        solid.ok_or_else(|| {
            let message = "auto=\"true\" cannot compute the mass properties of this geometry";
            self.report.error(geometry, message)
        })
    }
}

/// Returns the inertia about the origin of a point of `mass` at `p`.
fn shifted(mass: f64, p: &Vector3<f64>) -> Matrix3<f64> {
    (Matrix3::from_diagonal_element(p.norm_squared()) - p * p.transpose()) * mass
}
