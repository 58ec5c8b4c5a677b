//! The `<axis>` elements of joints: directions, limits, damping and springs.

use super::builder::SdfBuilder;
use super::element::Element;
use super::frames::{NodeId, ScopeId};
use crate::Result;
use nalgebra::Vector3;
use tarragon_documents::xml::Parsed;
use tarragon_multibody::Joint;

/// Limits from this on stand for no limit, as in the format's library.
pub(super) const NO_LIMIT: f64 = 1e16;

/// Content of an `<axis>`.
pub(super) struct JointAxis {
    /// In the joint frame.
    pub(super) direction: Vector3<f64>,
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) velocity: f64,
    pub(super) acceleration: f64,
    /// Infinite if the file sets no limit; 0 means that there is no motor.
    pub(super) effort: f64,
    pub(super) damping: f64,
    pub(super) spring_reference: f64,
    pub(super) spring_stiffness: f64,
}

impl SdfBuilder<'_, '_> {
    pub(super) fn required_axis(
        &self,
        node: NodeId,
        element: &Element,
        tag: &str,
        scope: ScopeId,
    ) -> Parsed<JointAxis> {
        self.axis(node, element, tag, scope)?.ok_or_else(|| {
            let message = format!("joint '{}' has no <{tag}>", element.name());
            self.report.error(element, message)
        })
    }

    pub(super) fn axis(
        &self,
        node: NodeId,
        element: &Element,
        tag: &str,
        scope: ScopeId,
    ) -> Parsed<Option<JointAxis>> {
        let report = self.report;
        let Some(axis) = element.child(tag) else {
            return Ok(None);
        };
        let name = element.name();
        let xyz = axis.vector::<3>("xyz").unwrap_or([0.0, 0.0, 1.0]);
        let length = Vector3::from(xyz).norm();
        if !(length > 0.0 && length.is_finite()) {
            let message =
                format!("joint '{name}': <{tag}> must be finite and not zero, got {xyz:?}");
            return Err(report.error(axis, message));
        }
        let expressed_in = axis.child("xyz").and_then(|e| e.filled("expressed_in"));
        let xyz = match expressed_in {
            None => xyz,
            Some(frame) => {
                let what = format!("expressed_in of joint '{name}'");
                let frame = self.find(scope, frame, &what, axis)?;
                self.graph.relative(node, frame, scope).rotate(xyz)
            }
        };
        if let Some(mimic) = axis.child("mimic") {
            let message = format!(
                "joint '{name}': <mimic> of an axis is ignored, as in Drake; use <drake:mimic> in \
                 the joint"
            );
            report.warning(mimic, message);
        }
        let limit = axis.child("limit");
        if let Some(limit) = limit {
            let ignored = ["dissipation", "stiffness"];
            report.check_children(limit, &ignored, &["acceleration"]);
        }
        let limited = |tag: &str| limit.and_then(|l| l.number(tag));
        let not_negative = |x: Option<f64>| x.filter(|x| *x >= 0.0 || x.is_nan());
        let (lower, upper) = (
            limited("lower").unwrap_or(f64::NEG_INFINITY),
            limited("upper").unwrap_or(f64::INFINITY),
        );
        let acceleration = match limit {
            Some(limit) => report.optional_number(limit, "drake:acceleration")?,
            None => None,
        };
        let friction = axis.descendant(&["dynamics", "friction"]);
        if let Some(friction) = friction.filter(|f| f.text.parse() != Ok(0.0)) {
            let message =
                "<friction> in <dynamics> is ignored: no dry friction is read from SDFormat";
            report.warning_grouped(friction, message);
        }
        let dynamics = |tag: &str| axis.descendant(&["dynamics"]).and_then(|d| d.number(tag));
        let found = JointAxis {
            direction: xyz.into(),
            lower,
            upper,
            velocity: not_negative(limited("velocity")).unwrap_or(f64::INFINITY),
            acceleration: acceleration.unwrap_or(f64::INFINITY),
            effort: not_negative(limited("effort")).unwrap_or(f64::INFINITY),
            damping: dynamics("damping").unwrap_or(0.0),
            spring_reference: dynamics("spring_reference").unwrap_or(0.0),
            spring_stiffness: dynamics("spring_stiffness").unwrap_or(0.0),
        };
        let wrong = [
            ("damping", found.damping),
            ("acceleration", found.acceleration),
        ];
        match wrong.into_iter().find(|(_, x)| *x < 0.0) {
            Some((what, x)) => {
                let message = format!("joint '{name}': the {what} must be at least 0, got {x:?}");
                Err(report.error(axis, message))
            }
            None => Ok(Some(found)),
        }
    }

    /// Warns about limits and springs of a joint type that has none in Drake.
    pub(super) fn ignore_limits(&self, element: &Element, kind: &str, axis: &JointAxis) {
        let limits = [axis.lower, axis.upper, axis.velocity, axis.acceleration];
        let limited = limits.iter().any(|limit| limit.abs() < NO_LIMIT);
        for (what, given) in [
            ("limits", limited),
            ("spring", axis.spring_stiffness != 0.0),
        ] {
            if given {
                let message = format!(
                    "{what} of a {kind} joint: ignored, because Drake's {kind} joints have none"
                );
                self.report.warning_grouped(element, message);
            }
        }
    }
}

impl JointAxis {
    pub(super) fn limit(&self, joint: Joint, kind: &str) -> Result<Joint> {
        if kind == "screw" {
            return Ok(joint);
        }
        // A continuous joint has no position limits.
        let joint = match kind {
            "continuous" => joint,
            _ => joint.with_position_limits(vec![self.lower], vec![self.upper])?,
        };
        joint
            .with_velocity_limits(vec![-self.velocity], vec![self.velocity])?
            .with_acceleration_limits(vec![-self.acceleration], vec![self.acceleration])
    }
}
