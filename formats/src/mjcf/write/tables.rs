//! Names, sites and tendons of the document, the order of its positions, and elements of the plant
//! by joint and by body.

use crate::writing::document::TakenNames;
use nalgebra::{Isometry3, Vector3};
use std::collections::{BTreeMap, BTreeSet};
use tarragon_multibody::{
    BodyIndex, Constraint, EqualityKind, ForceElement, JointIndex, ModelCamera, MultibodyPlant,
    SensorSubject, Tendon, TendonPart, TendonWrap,
};

/// Names that are taken in the document, one set per kind.
#[derive(Default)]
pub(super) struct MjcfNames {
    pub(super) geoms: TakenNames,
    pub(super) meshes: TakenNames,
    pub(super) height_fields: TakenNames,
    pub(super) sites: TakenNames,
    pub(super) cameras: TakenNames,
    pub(super) tendons: TakenNames,
    /// Names of the bodies that are no mere links between joints.
    pub(super) of_elements: BTreeSet<String>,
}

/// Positions in the order of the file.
pub(super) enum PositionBlock {
    /// Pose of a free body.
    Free(BodyIndex),
    Joint(JointIndex),
}

/// A tendon of the document.
pub(super) struct TendonText {
    pub(super) name: String,
    pub(super) path: TendonPath,
    pub(super) numbers: Vec<(&'static str, Vec<f64>)>,
}

#[derive(Debug)]
pub(super) enum TendonPath {
    /// Names of joints and their coefficients.
    Fixed(Vec<(String, f64)>),
    Spatial(Vec<SpatialPart>),
}

/// A part of the path of a spatial tendon.
#[derive(Clone, Debug)]
pub(super) enum SpatialPart {
    /// Name of a site.
    Site(String),
    /// Divisor of a branch.
    Pulley(f64),
    /// Names of a geom and of its side site.
    Geom(String, Option<String>),
}

/// Element of the plant that has a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathOwner {
    /// Number of a force element.
    Force(usize),
    /// Number of a constraint, and which of its tendons has the path.
    Constraint(usize, usize),
    /// Number of an actuator.
    Actuator(usize),
}

/// Returns the paths of all spatial tendons of a plant.
pub(super) fn paths(plant: &MultibodyPlant) -> Vec<(PathOwner, &[TendonPart])> {
    let elements = plant.force_elements().iter().enumerate();
    let elements = elements.filter_map(|(number, element)| match element {
        ForceElement::SpatialTendon { path, .. } => Some((PathOwner::Force(number), &**path)),
        _ => None,
    });
    let mut all: Vec<_> = elements.collect();
    for (number, constraint) in plant.constraints().iter().enumerate() {
        match constraint {
            Constraint::SpatialTendon(c) => {
                all.push((PathOwner::Constraint(number, 0), &*c.path));
            }
            Constraint::Polynomial(c) => {
                for (which, tendon) in c.tendons.iter().enumerate() {
                    if let Tendon::Spatial(path) = tendon {
                        all.push((PathOwner::Constraint(number, which), &**path));
                    }
                }
            }
            _ => {}
        }
    }
    let actuators = plant.actuators().iter().enumerate();
    all.extend(actuators.filter_map(|(k, a)| Some((PathOwner::Actuator(k), a.path()?))));
    all
}

/// A path of the plant in the document.
#[derive(Clone)]
pub(super) struct PlannedPath {
    pub(super) parts: Vec<SpatialPart>,
    /// Length at the reference positions of joints (m).
    pub(super) length: f64,
}

/// A geom around which a tendon wraps, which is not drawn and does not collide.
pub(super) struct WrapText {
    pub(super) name: String,
    pub(super) geom: TendonWrap,
}

/// A site of the document.
pub(super) struct SiteText {
    pub(super) name: String,
    pub(super) body: BodyIndex,
    pub(super) x_bs: Isometry3<f64>,
}

/// The sites of the document.
#[derive(Default)]
pub(super) struct DocumentSites {
    all: Vec<SiteText>,
    of_bodies: BTreeMap<BodyIndex, Vec<usize>>,
    /// First site at each position in a body.
    by_position: BTreeMap<(BodyIndex, [u64; 3]), usize>,
    pub(super) of_constraints: BTreeMap<usize, [String; 2]>,
    pub(super) paths: BTreeMap<PathOwner, PlannedPath>,
}

impl DocumentSites {
    pub(super) fn push(&mut self, site: SiteText) {
        let (number, body) = (self.all.len(), site.body);
        self.of_bodies.entry(body).or_default().push(number);
        let key = (body, bits(&site.x_bs.translation.vector));
        self.by_position.entry(key).or_insert(number);
        self.all.push(site);
    }

    /// Returns the sites of a body, in order of addition.
    pub(super) fn of_body(&self, body: BodyIndex) -> impl Iterator<Item = &SiteText> {
        let numbers = self.of_bodies.get(&body).into_iter().flatten();
        numbers.filter_map(|number| self.all.get(*number))
    }

    /// Returns the name of a site of the plant.
    pub(super) fn name(&self, number: usize) -> Option<&str> {
        self.all.get(number).map(|site| &*site.name)
    }

    /// Returns the first site at a position in a body.
    pub(super) fn at(&self, body: BodyIndex, position: &Vector3<f64>) -> Option<&SiteText> {
        self.all
            .get(*self.by_position.get(&(body, bits(position)))?)
    }

    /// Returns the sites that a constraint connects, if it connects sites.
    pub(super) fn of_constraint(&self, number: usize) -> Option<[String; 2]> {
        self.of_constraints.get(&number).cloned()
    }
}

/// Returns the bits of coordinates; those of -0 are those of 0.
fn bits(position: &Vector3<f64>) -> [u64; 3] {
    [0, 1, 2].map(|k| (position[k] + 0.0).to_bits())
}

/// Elements of the plant by joint and by body.
#[derive(Default)]
pub(super) struct PlantTables<'a> {
    /// Reflected inertia of the actuators of each joint.
    pub(super) reflected: BTreeMap<JointIndex, f64>,
    /// Number of the first spring on each joint, with stiffness and rest position.
    pub(super) springs: BTreeMap<JointIndex, (usize, [f64; 2])>,
    pub(super) cameras: BTreeMap<BodyIndex, Vec<&'a ModelCamera>>,
    /// Bodies that constraints, equalities and sensors name, and those with geoms around which
    /// tendons wrap.
    pub(super) constrained: BTreeSet<BodyIndex>,
}

impl<'a> PlantTables<'a> {
    pub(super) fn new(plant: &'a MultibodyPlant) -> Self {
        let mut tables = Self::default();
        for actuator in plant.actuators() {
            if let Some(joint) = actuator.joint() {
                let sum = tables.reflected.entry(joint).or_default();
                *sum += actuator.calc_reflected_inertia();
            }
        }
        for (number, element) in plant.force_elements().iter().enumerate() {
            if let ForceElement::RevoluteSpring {
                joint,
                nominal_angle: rest,
                stiffness,
            }
            | ForceElement::PrismaticSpring {
                joint,
                nominal_position: rest,
                stiffness,
            } = *element
                && stiffness != 0.0
            {
                let spring = (number, [stiffness, rest]);
                tables.springs.entry(joint).or_insert(spring);
            }
        }
        for (_, path) in paths(plant) {
            let wraps = path.iter().filter_map(|part| match part {
                TendonPart::Wrap(wrap) => Some(wrap.body),
                _ => None,
            });
            tables.constrained.extend(wraps);
        }
        for camera in plant.model_cameras() {
            let body = plant[camera.frame].body();
            tables.cameras.entry(body).or_default().push(camera);
        }
        for constraint in plant.constraints() {
            tables.constrained.extend(match constraint {
                Constraint::Ball(ball) => vec![ball.body_a, ball.body_b],
                Constraint::Weld(weld) => vec![weld.body_a, weld.body_b],
                Constraint::Distance(rod) => vec![rod.body_a, rod.body_b],
                Constraint::Coupler(_)
                | Constraint::Tendon(_)
                | Constraint::SpatialTendon(_)
                | Constraint::Polynomial(_) => vec![],
            });
        }
        for sensor in plant.model_sensors() {
            let all = [Some(sensor.subject), sensor.reference];
            let bodies = all.into_iter().flatten().filter_map(SensorSubject::body);
            tables.constrained.extend(bodies);
        }
        for equality in plant.model_equalities() {
            if let EqualityKind::Weld(weld) = &equality.kind {
                tables.constrained.extend([weld.body_a, weld.body_b]);
            }
        }
        tables
    }
}
