//! Keyframes: named positions and velocities of joints, and inputs of actuators.

use super::actuators::{EFFORT_IS_INPUT, NO_STATES};
use super::attached_key::{AttachedKey, KeyValues};
use super::builder::{MjcfBuilder, QposBlock};
use super::key_values::{BALL, FREE, KeyLayout, SINGLE};
use super::tree::ElementRef;
use nalgebra::{UnitQuaternion, Vector3};
use std::collections::BTreeSet;
use tarragon_documents::xml::Parsed;
use tarragon_framework::math;
use tarragon_multibody::{JointActuatorIndex, Keyframe, KeyframeLoss, KeyframePart, SpatialVector};

const NOT_HELD: &str = "keyframes hold no poses of mocap bodies";
const IGNORED: [(&str, &str); 2] = [("mpos", NOT_HELD), ("mquat", NOT_HELD)];
/// Further attributes that Drake's reading ignores, each with the part of the keyframe that is then
/// missing, and the reason.
const IGNORED_AS_IN_DRAKE: [(&str, KeyframePart, &str); 3] = [
    ("ctrl", KeyframePart::Controls, EFFORT_IS_INPUT),
    ("act", KeyframePart::Controls, NO_STATES),
    (
        "qvel",
        KeyframePart::Velocities,
        "keyframes hold positions only",
    ),
];
/// Norm below which MuJoCo takes a quaternion for the identity (`mjMINVAL`).
const LEAST_NORM: f64 = 1e-15;

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds the keyframes of the file and of the models that it attaches.
    pub(super) fn add_keyframes(&mut self, root: ElementRef<'d>) {
        let sizes = self.coordinates.iter().map(|joint| match joint.block {
            QposBlock::Free(_) => FREE,
            QposBlock::Ball(_) => BALL,
            QposBlock::Single(_) => SINGLE,
        });
        let layout = KeyLayout {
            joints: sizes.collect(),
            activations: self.actuators.iter().map(|a| a.num_activations).collect(),
        };
        let mut names = BTreeSet::new();
        let keys = root.children_named("keyframe").flat_map(|k| k.children());
        for (number, node) in keys.enumerate() {
            if node.tag() != "key" {
                node.ignored("<keyframe> must hold <key> elements");
                continue;
            }
            let name = node
                .name()
                .map_or_else(|| format!("key{number}"), String::from);
            if !names.insert(name.clone()) {
                let message =
                    format!("keyframe '{name}' is left out: another keyframe has this name");
                node.warning_at("name", message);
                continue;
            }
            // Errors were reported.
            let _ = self.add_keyframe(node, name, &layout);
        }
    }

    fn add_keyframe(
        &mut self,
        node: ElementRef<'_>,
        name: String,
        layout: &KeyLayout,
    ) -> Parsed<()> {
        node.ignore_attributes(&IGNORED);
        let as_drake = self.document.main_compiler().as_drake();
        let mut values = match node.attached_key() {
            Some(attached) => self.attached_values(attached),
            None if as_drake => {
                let ignored = IGNORED_AS_IN_DRAKE.map(|(attribute, _, why)| (attribute, why));
                node.lost().ignore_attributes(&ignored);
                let mut values = KeyValues::default();
                layout.read_positions(node, &name, &mut values)?;
                for (attribute, part, why) in IGNORED_AS_IN_DRAKE {
                    let given = node.own_text(attribute);
                    if given.is_some_and(|text| !text.trim().is_empty()) {
                        let why = format!("'{attribute}' is ignored: {why}");
                        values.losses.push((part, why));
                    }
                }
                values
            }
            None => layout.read(node, &name)?,
        };
        for (part, why) in std::mem::take(&mut values.losses) {
            self.target.plant.add_keyframe_loss(KeyframeLoss {
                model_instance: self.instance,
                keyframe: name.clone(),
                part,
                why,
            });
            if part == KeyframePart::All {
                return Ok(());
            }
        }
        let mut keyframe = Keyframe {
            name,
            model_instance: self.instance,
            controls: self.controls(&values),
            ..Keyframe::default()
        };
        for (index, joint) in self.coordinates.iter().enumerate() {
            let of = |all: &Option<Vec<Vec<f64>>>| {
                let own = all.as_ref().and_then(|all| all.get(index)).cloned();
                own.filter(|own| !own.is_empty())
            };
            let (q, v) = (of(&values.positions), of(&values.velocities));
            self.set_joint(node, &mut keyframe, joint.block, (q, v))?;
        }
        let added = self.target.plant.add_keyframe(keyframe);
        added.map_err(|e| node.error(e))
    }

    /// Returns the inputs of the actuators that are part of the plant.
    fn controls(&self, values: &KeyValues) -> Vec<(JointActuatorIndex, f64)> {
        let inputs = self.actuators.iter().zip(&values.inputs);
        let inputs = inputs.filter_map(|(of, input)| of.actuator.zip(*input));
        inputs.collect()
    }

    /// Returns the values of a keyframe of an attached model for all joints and actuators of the
    /// file. They are empty for all others, and for all but the first copy by a `<replicate>`.
    fn attached_values(&self, key: &AttachedKey) -> KeyValues {
        let mut left: BTreeSet<usize> = key.joints.iter().chain(&key.actuators).copied().collect();
        let mut place = |numbers: &[usize], number: Option<usize>| {
            let number = number.filter(|number| left.remove(number))?;
            numbers.iter().position(|n| *n == number)
        };
        let joints = self.coordinates.iter();
        let joints: Vec<_> = joints.map(|j| place(&key.joints, j.key_number)).collect();
        let actuators = self.actuators.iter();
        let actuators: Vec<_> = actuators
            .map(|a| place(&key.actuators, a.key_number))
            .collect();
        let of_joints = |values: &Option<Vec<Vec<f64>>>| {
            let values = values.as_ref()?;
            let own = joints.iter().map(|p| p.map(|p| values[p].clone()));
            Some(own.map(Option::unwrap_or_default).collect())
        };
        let inputs = actuators.iter().map(|p| key.values.inputs[(*p)?]);
        KeyValues {
            positions: of_joints(&key.values.positions),
            velocities: of_joints(&key.values.velocities),
            inputs: inputs.collect(),
            losses: key.values.losses.clone(),
        }
    }

    /// Sets the positions q and velocities v of one joint, where they are given.
    fn set_joint(
        &self,
        node: ElementRef<'_>,
        keyframe: &mut Keyframe,
        block: QposBlock,
        (q, v): (Option<Vec<f64>>, Option<Vec<f64>>),
    ) -> Parsed<()> {
        match block {
            // MuJoCo expresses angular velocities of free and ball joints in the child's frame.
            QposBlock::Free(body) => {
                let mut pose = self.poses.get(&body).copied().unwrap_or_default();
                if let Some(q) = q {
                    let rotation = quaternion(node, &q[3..])?;
                    pose = math::pose(rotation, Vector3::new(q[0], q[1], q[2]));
                    keyframe.free_poses.push((body, pose));
                }
                if let Some(v) = v {
                    let velocity = SpatialVector {
                        rotational: pose.rotation * Vector3::new(v[3], v[4], v[5]),
                        translational: Vector3::new(v[0], v[1], v[2]),
                    };
                    keyframe.free_velocities.push((body, velocity));
                }
            }
            QposBlock::Ball(joint) => {
                let mut rotation = UnitQuaternion::identity();
                if let Some(q) = q {
                    rotation = quaternion(node, &q)?;
                    let kind = self.target.plant[joint].kind();
                    let q = kind.turning_positions(&rotation);
                    keyframe.positions.push((joint, q));
                }
                if let Some(v) = v {
                    let velocity = rotation * Vector3::new(v[0], v[1], v[2]);
                    keyframe
                        .velocities
                        .push((joint, velocity.as_slice().into()));
                }
            }
            QposBlock::Single(joint) => {
                keyframe.positions.extend(q.map(|q| (joint, q)));
                keyframe.velocities.extend(v.map(|v| (joint, v)));
            }
        }
        Ok(())
    }
}

/// Returns the rotation of a quaternion (w, x, y, z) of any length, as MuJoCo normalizes it.
fn quaternion(node: ElementRef<'_>, q: &[f64]) -> Parsed<UnitQuaternion<f64>> {
    let largest = q.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    // Squares of tiny numbers would vanish.
    let scaled = [q[0], q[1], q[2], q[3]].map(|x| x / largest);
    let length = largest * scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
    if largest == 0.0 || length < LEAST_NORM {
        return Ok(UnitQuaternion::identity());
    }
    let unit = math::quaternion_wxyz(scaled);
    unit.ok_or_else(|| {
        let message =
            format!("the numbers of a quaternion in 'qpos' must be finite, got {largest:?}");
        node.error_at("qpos", message)
    })
}
