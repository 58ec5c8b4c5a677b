//! Values of a `<key>`, divided among the joints and actuators of its model.

use super::attached_key::KeyValues;
use super::tree::ElementRef;
use crate::document::xml::Parsed;
use crate::model::KeyframePart;
use tarragon_framework::counted;

/// Numbers of positions and velocities of the joints in MuJoCo's `qpos` and `qvel`.
pub(super) const FREE: [usize; 2] = [7, 6];
pub(super) const BALL: [usize; 2] = [4, 3];
pub(super) const SINGLE: [usize; 2] = [1, 1];

/// Sizes of the joints and actuators of a model, in the order of MuJoCo.
#[derive(Debug, Default)]
pub(super) struct KeyLayout {
    /// Numbers of positions and velocities of each joint.
    pub(super) joints: Vec<[usize; 2]>,
    /// Number of activations of each actuator.
    pub(super) activations: Vec<usize>,
}

impl KeyLayout {
    /// Reads the positions, velocities and inputs of a key. If the count of the numbers of a part
    /// is wrong, a warning says so and the part is recorded as lost. If the positions do not fit,
    /// the whole key is lost.
    pub(super) fn read(&self, node: ElementRef<'_>, name: &str) -> Parsed<KeyValues> {
        let mut values = KeyValues::default();
        values.inputs = self.inputs(node, &mut values.losses)?;
        let velocities = node.numbers("qvel")?;
        self.read_positions(node, name, &mut values)?;
        let velocities = velocities.filter(|given| {
            let expected: usize = self.joints.iter().map(|[_, velocities]| velocities).sum();
            let fits = given.len() == expected;
            if !fits && !given.is_empty() {
                let why = format!(
                    "'qvel' is ignored: it has {numbers}, but the joints that were read have \
                     {velocities}",
                    numbers = counted(given.len(), "number"),
                    velocities = counted(expected, "velocity")
                );
                node.warning_at("qvel", format!("keyframe '{name}': {why}"));
                values.losses.push((KeyframePart::Velocities, why));
            }
            fits
        });
        values.velocities = velocities.map(|v| self.divided(1, &v));
        Ok(values)
    }

    /// Reads the positions of a key as [`Self::read`] does, and nothing else.
    pub(super) fn read_positions(
        &self,
        node: ElementRef<'_>,
        name: &str,
        values: &mut KeyValues,
    ) -> Parsed<()> {
        let given = node.numbers("qpos")?.filter(|given| !given.is_empty());
        let Some(given) = given else {
            return Ok(());
        };
        let expected: usize = self.joints.iter().map(|[positions, _]| positions).sum();
        if given.len() == expected {
            values.positions = Some(self.divided(0, &given));
            return Ok(());
        }
        let why = format!(
            "'qpos' has {numbers}, but the joints that were read have {positions}",
            numbers = counted(given.len(), "number"),
            positions = counted(expected, "position")
        );
        node.warning_at("qpos", format!("keyframe '{name}' is left out: {why}"));
        values.losses.push((KeyframePart::All, why));
        Ok(())
    }

    /// Divides the positions (0) or the velocities (1) of all joints among them.
    fn divided(&self, which: usize, mut numbers: &[f64]) -> Vec<Vec<f64>> {
        let sizes = self.joints.iter().map(|sizes| sizes[which]);
        let own = sizes.map(|size| {
            let (own, others) = numbers.split_at(size);
            numbers = others;
            own.to_vec()
        });
        own.collect()
    }

    /// Reads the inputs of actuators.
    fn inputs(
        &self,
        node: ElementRef<'_>,
        losses: &mut Vec<(KeyframePart, String)>,
    ) -> Parsed<Vec<Option<f64>>> {
        let mut given = |name: &str, expected: usize, what: &str| {
            let numbers = node.numbers(name)?.unwrap_or_default();
            if numbers.is_empty() || numbers.len() == expected {
                return Ok(numbers);
            }
            let message = format!(
                "'{name}' of a keyframe is ignored: it has {numbers}, but there {be} {what}",
                numbers = counted(numbers.len(), "number"),
                be = if expected == 1 { "is" } else { "are" },
                what = counted(expected, what)
            );
            node.warning_at(name, &message);
            losses.push((KeyframePart::Controls, message));
            Ok(vec![])
        };
        let controls = given("ctrl", self.activations.len(), "actuator")?;
        let activations = given("act", self.activations.iter().sum(), "activation")?;
        let mut place = 0;
        let inputs = self.activations.iter().enumerate().map(|(k, count)| {
            let number = match count {
                0 => controls.get(k),
                _ => activations.get(place),
            };
            place += count;
            number.copied()
        });
        Ok(inputs.collect())
    }
}
