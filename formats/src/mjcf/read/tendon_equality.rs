//! `<tendon>` of `<equality>`, where a file is read as by MuJoCo.

use super::builder::MjcfBuilder;
use super::equality::{check_different, read_polycoef};
use super::tendons::tendon_constraint;
use super::tree::ElementRef;
use std::collections::BTreeMap;
use tarragon_documents::xml::Parsed;
use tarragon_multibody::{
    Constraint, JointIndex, PolynomialConstraint, SpatialTendonConstraint, Tendon, TendonConstraint,
};

/// Joints with coefficients.
type JointTerms = Vec<(JointIndex, f64)>;

impl MjcfBuilder<'_, '_, '_> {
    /// Reads an equality of one tendon or two; `None` if a tendon of it is left out.
    pub(super) fn read_tendon_equality(&self, node: ElementRef<'_>) -> Parsed<Option<Constraint>> {
        let Some(name1) = node.own_text("tendon1") else {
            return Err(node.error("<tendon> of <equality> has no attribute 'tendon1'"));
        };
        let first = self.named_tendon(node, "tendon1", name1)?;
        let name2 = node.own_text("tendon2");
        check_different(node, ["tendon1", "tendon2"])?;
        let second = name2.map(|name| self.named_tendon(node, "tendon2", name));
        let second = second.transpose()?;
        let coefficients = read_polycoef(node)?;
        let (Some(first), None | Some(Some(_))) = (first, second) else {
            return Ok(None);
        };
        let is_slack = |tendon: &Tendon| *tendon == Tendon::Fixed(vec![]);
        if is_slack(&first.tendon) {
            node.ignored("all coefficients of its first tendon are 0; give one another value");
            return Ok(None);
        }
        let second = second.flatten().map(|second| &second.tendon);
        // The length of a slack tendon does not change.
        let second = second.filter(|second| !is_slack(second));
        let reference = self.default_length(&first.tendon);
        let fixed = reference + coefficients[0];
        Ok(Some(match (&first.tendon, second) {
            (Tendon::Fixed(joints), None) => joint_sum(joints, fixed),
            (Tendon::Spatial(path), None) => Constraint::SpatialTendon(SpatialTendonConstraint {
                path: path.clone(),
                lower: fixed,
                upper: fixed,
                stiffness: f64::INFINITY,
                damping: 0.0,
            }),
            (Tendon::Fixed(joints), Some(second @ Tendon::Fixed(others)))
                if coefficients[2..] == [0.0; 3] =>
            {
                let ratio = coefficients[1];
                let length = fixed - ratio * self.default_length(second);
                joint_sum(&difference(joints, others, ratio), length)
            }
            (_, Some(second)) => Constraint::Polynomial(PolynomialConstraint {
                tendons: [first.tendon.clone(), second.clone()],
                references: [reference, self.default_length(second)],
                coefficients,
            }),
        }))
    }
}

/// Returns the constraint that a sum of joint positions has a value.
fn joint_sum(joints: &[(JointIndex, f64)], length: f64) -> Constraint {
    Constraint::Tendon(TendonConstraint {
        lower: length,
        upper: length,
        ..tendon_constraint(joints)
    })
}

/// Returns the terms of a sum less those of another times a ratio.
fn difference(first: &[(JointIndex, f64)], second: &[(JointIndex, f64)], ratio: f64) -> JointTerms {
    let mut joints = first.to_vec();
    let places = joints.iter().enumerate().map(|(k, (joint, _))| (*joint, k));
    let places: BTreeMap<JointIndex, usize> = places.collect();
    for (joint, coefficient) in second {
        let term = -ratio * coefficient;
        match places.get(joint).and_then(|k| joints.get_mut(*k)) {
            Some((_, sum)) => *sum += term,
            None => joints.push((*joint, term)),
        }
    }
    joints
}
