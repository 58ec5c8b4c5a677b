//! `<tendon>` where a file is read as by MuJoCo: sums of joint positions; the others are in
//! `spatial_tendons`.

use super::builder::{FileTendon, MjcfBuilder};
use super::tree::ElementRef;
use nalgebra::Isometry3;
use std::collections::BTreeMap;
use tarragon_documents::names::missing;
use tarragon_documents::xml::Parsed;
use tarragon_multibody::{ForceElement, JointIndex, Tendon, TendonConstraint, walk_tendon};

const OWN_LIMITS: &str = "tendon limits of the plant are as stiff as its time step allows";
const NO_FRICTION: &str = "tendons have no dry friction";
pub(super) const IGNORED: [(&str, &str); 9] = [
    ("actuatorfrclimited", "efforts are limited by actuators"),
    ("actuatorfrcrange", "efforts are limited by actuators"),
    ("armature", "tendons have no inertia"),
    ("frictionloss", NO_FRICTION),
    ("margin", "tendon limits act where they are violated"),
    ("solimpfriction", NO_FRICTION),
    ("solimplimit", OWN_LIMITS),
    ("solreffriction", NO_FRICTION),
    ("solreflimit", OWN_LIMITS),
];

/// Free length of a spring that is as long as the tendon where the springs of joints are at rest.
const UNKNOWN: f64 = -1.0;

/// Spring and damper of a tendon.
pub(super) struct TendonForce {
    pub(super) stiffness: f64,
    pub(super) damping: f64,
    /// Range of lengths without spring force; `None` for the length where the springs of joints are
    /// at rest.
    pub(super) free_lengths: Option<[f64; 2]>,
}

impl TendonForce {
    pub(super) fn read(node: ElementRef<'_>) -> Parsed<Self> {
        let lengths = node.numbers("springlength")?.unwrap_or_default();
        let free_lengths = match *lengths {
            [] | [UNKNOWN] | [UNKNOWN, UNKNOWN, ..] => None,
            [length] => Some([length; 2]),
            [shortest, longest, ..] => Some([shortest, longest]),
        };
        Ok(Self {
            stiffness: node.number("stiffness")?.unwrap_or(0.0),
            damping: node.number("damping")?.unwrap_or(0.0),
            free_lengths,
        })
    }

    pub(super) fn acts(&self) -> bool {
        self.stiffness != 0.0 || self.damping != 0.0
    }
}

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds the springs, dampers and limits of all tendons, and keeps the fixed ones for actuators
    /// and equalities.
    pub(super) fn add_tendons(&mut self, root: ElementRef<'d>) {
        let mut poses = None;
        for node in root.children_named("tendon").flat_map(|t| t.children()) {
            let node = self.document.defaults.apply(node, None);
            self.tendon_names.extend(node.name());
            // Errors were reported.
            let _ = match node.tag() {
                "fixed" => self.add_fixed_tendon(node),
                "spatial" => self.add_spatial_tendon(node, &mut poses),
                // The vocabulary check reports all others.
                _ => Ok(()),
            };
        }
    }

    fn add_fixed_tendon(&mut self, node: ElementRef<'d>) -> Parsed<()> {
        node.ignore_attributes(&IGNORED);
        let mut joints: Vec<(JointIndex, f64)> = vec![];
        let mut places: BTreeMap<JointIndex, usize> = BTreeMap::new();
        for part in node.children_named("joint") {
            let Some(name) = part.own_text("joint") else {
                return Err(part.error("<joint> of <fixed> has no attribute 'joint'"));
            };
            if self.free_joints.contains(name) {
                let tendon = node.name().unwrap_or_default();
                node.warning(format!(
                    "tendon '{tendon}' is left out: a fixed tendon adds up joints with one degree of \
                     freedom, and joint '{name}' is free"
                ));
                return Ok(());
            }
            let joint = self.joint(part, "joint", name)?;
            let coefficient = part.number("coef")?.unwrap_or(0.0);
            let place = *places.entry(joint).or_insert(joints.len());
            match joints.get_mut(place) {
                Some((_, sum)) => *sum += coefficient,
                None => joints.push((joint, coefficient)),
            }
        }
        joints.retain(|(_, coefficient)| *coefficient != 0.0);
        let all: Vec<JointIndex> = joints.iter().map(|(joint, _)| *joint).collect();
        let single = self.target.plant.check_single("fixed tendon", &all);
        if let Err(error) = single {
            // MuJoCo adds up a component of the quaternion, which is no length.
            let name = node.name().unwrap_or_default();
            node.warning(format!("tendon '{name}' is left out: {error}"));
            return Ok(());
        }
        let range = self.nonempty_limits(node, "limited", "range")?;
        self.act_on_fixed_tendon(node, &joints, range)?;
        self.keep_tendon(node, Tendon::Fixed(joints), range);
        Ok(())
    }

    /// Keeps a tendon for actuators and equalities, if it has a name.
    pub(super) fn keep_tendon(
        &mut self,
        node: ElementRef<'d>,
        tendon: Tendon,
        range: Option<[f64; 2]>,
    ) {
        if let Some(name) = node.name() {
            self.tendons.insert(name, FileTendon { tendon, range });
        }
    }

    /// Returns the tendon that an attribute names; `None` if it could not be read, which was
    /// reported.
    pub(super) fn named_tendon(
        &self,
        node: ElementRef<'_>,
        at: &str,
        name: &str,
    ) -> Parsed<Option<&FileTendon>> {
        if !self.tendon_names.contains(name) {
            return Err(node.error_at(
                at,
                missing("tendon", name, self.tendon_names.iter().copied()),
            ));
        }
        Ok(self.tendons.get(name))
    }

    fn act_on_fixed_tendon(
        &mut self,
        node: ElementRef<'_>,
        joints: &[(JointIndex, f64)],
        range: Option<[f64; 2]>,
    ) -> Parsed<()> {
        let force = TendonForce::read(node)?;
        if joints.is_empty() {
            return Ok(());
        }
        if force.acts() {
            let rest = |(joint, coefficient): &(JointIndex, f64)| {
                coefficient * self.spring_positions.get(joint).unwrap_or(&0.0)
            };
            let free = [joints.iter().map(rest).sum(); 2];
            let element = ForceElement::TendonSpring {
                joints: joints.to_vec(),
                free_lengths: force.free_lengths.unwrap_or(free),
                stiffness: force.stiffness,
                damping: force.damping,
            };
            let added = self.target.plant.add_force_element(element);
            added.map_err(|e| node.error(e))?;
        }
        let Some([lower, upper]) = range else {
            return Ok(());
        };
        let added = self.target.plant.add_tendon_constraint(TendonConstraint {
            lower,
            upper,
            ..tendon_constraint(joints)
        });
        added.map_err(|e| node.error_at("range", e))
    }

    /// Returns the length of a tendon in the configuration of the file.
    pub(super) fn default_length(&self, tendon: &Tendon) -> f64 {
        let joints = match tendon {
            Tendon::Fixed(joints) => joints,
            Tendon::Spatial(path) => {
                let pose = |body| self.poses.get(&body).copied().unwrap_or_default();
                return walk_tendon(path, pose, |_| {});
            }
        };
        let plant = &self.target.plant;
        let of = |(joint, coefficient): &(JointIndex, f64)| {
            let joint = plant.joint(*joint).ok()?;
            Some(coefficient * joint.default_positions().first()?)
        };
        joints.iter().filter_map(of).sum()
    }

    /// Returns the poses of the bodies of the document where the springs of joints are at rest,
    /// whether there are any or not.
    pub(super) fn spring_poses(&self) -> crate::Result<Vec<Isometry3<f64>>> {
        let model = self.own_plant()?;
        let mut q = model.default_positions();
        for (joint, rest) in &self.spring_positions {
            let joint = self.own_joint(*joint);
            if model.check_single("spring", &[joint]).is_ok() {
                q[model.position_start(joint)?] = *rest;
            }
        }
        let mut poses = vec![];
        model.calc_body_poses(&q, &mut poses)?;
        Ok(poses)
    }
}

/// Returns a constraint on a sum of joint positions that allows only the length 0.
pub(super) fn tendon_constraint(joints: &[(JointIndex, f64)]) -> TendonConstraint {
    TendonConstraint {
        joints: joints.iter().map(|(joint, _)| *joint).collect(),
        coefficients: joints.iter().map(|(_, coefficient)| *coefficient).collect(),
        offset: 0.0,
        lower: 0.0,
        upper: 0.0,
        stiffness: f64::INFINITY,
        damping: 0.0,
    }
}
