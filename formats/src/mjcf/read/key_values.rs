//! Values of a `<key>`, divided among the joints and actuators of its model.

use super::attached_key::KeyValues;
use super::tree::ElementRef;
use tarragon_documents::xml::Parsed;
use tarragon_framework::counted;
use tarragon_multibody::KeyframePart;

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
        values.inputs = self.inputs(node, name, &mut values.losses)?;
        let velocities = node.numbers("qvel")?;
        self.read_positions(node, name, &mut values)?;
        let velocities = velocities.filter(|given| {
            let expected: usize = self.joints.iter().map(|[_, velocities]| velocities).sum();
            let fits = given.len() == expected;
            if !fits && !given.is_empty() {
                let why = wrong_count("qvel", expected, "velocity of the joints", given.len());
                let why = why + "; it is ignored";
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
        let why = wrong_count("qpos", expected, "position of the joints", given.len());
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
        keyframe: &str,
        losses: &mut Vec<(KeyframePart, String)>,
    ) -> Parsed<Vec<Option<f64>>> {
        let mut given = |name: &str, expected: usize, what: &str| {
            let numbers = node.numbers(name)?.unwrap_or_default();
            if numbers.is_empty() || numbers.len() == expected {
                return Ok(numbers);
            }
            let why = wrong_count(name, expected, what, numbers.len()) + "; it is ignored";
            node.warning_at(name, format!("keyframe '{keyframe}': {why}"));
            losses.push((KeyframePart::Controls, why));
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

/// Returns what is wrong with an attribute that must have one number per `what`.
fn wrong_count(attribute: &str, expected: usize, what: &str, found: usize) -> String {
    let numbers = counted(expected, "number");
    format!("'{attribute}' must have {numbers}, one per {what}, got {found}")
}
