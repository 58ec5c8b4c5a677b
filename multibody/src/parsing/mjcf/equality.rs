//! `<equality>`: constraints between bodies and between joints.
//!
//! `connect` becomes a ball constraint. Drake ignores all other kinds; `weld` and `joint` are kept
//! in the plant without acting on it.

use super::builder::MjcfBuilder;
use super::tree::ElementRef;
use crate::document::xml::Parsed;
use crate::model::{BallConstraint, BodyIndex, EqualityKind, ModelEquality, WeldConstraint};
use nalgebra::Vector3;
use tarragon_framework::math;

const RIGID: &str = "constraints of the plant are as stiff as its time step allows";
const IGNORED_IN_CONNECT: [(&str, &str); 2] = [("solimp", RIGID), ("solref", RIGID)];
const ALWAYS_ON: [(&str, &str); 1] =
    [("active", "constraints are on until a context disables them")];

impl<'d> MjcfBuilder<'d, '_, '_> {
    pub(super) fn add_equalities(&mut self, root: ElementRef<'d>) {
        for node in root.children_named("equality").flat_map(|e| e.children()) {
            let defaults = &self.document.defaults;
            let node = match self.document.main_compiler().as_drake() {
                true => defaults.apply(node, None),
                false => defaults.apply_as(node, "equality", None),
            };
            // Errors were reported.
            let _ = match node.tag() {
                "connect" => self.add_connect(node),
                "weld" => self.keep_weld(node),
                "joint" => self.keep_joint(node),
                _ => {
                    node.ignored("this kind of constraint is not supported");
                    Ok(())
                }
            };
        }
    }

    /// Returns the body that an attribute names, or the world if the attribute is absent.
    fn other_body(&self, node: ElementRef<'_>, at: &str) -> Parsed<BodyIndex> {
        match node.own_text(at) {
            Some(name) => self.body(node, at, name),
            None => Ok(BodyIndex::WORLD),
        }
    }

    fn add_connect(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        node.ignore_attributes(&IGNORED_IN_CONNECT);
        if node.text("active").is_some_and(|a| a.trim() == "false") {
            node.ignore_attributes(&ALWAYS_ON);
        }
        let Some(body1) = node.own_text("body1") else {
            let sites = (node.own_text("site1"), node.own_text("site2"));
            if let (Some(site1), Some(site2)) = sites {
                return self.connect_sites(node, site1, site2);
            }
            return Err(node.error("<connect> has no attributes 'body1' and 'anchor'"));
        };
        let Some(anchor) = node.vector::<3>("anchor")? else {
            return Err(node.error("<connect> has 'body1' but no attribute 'anchor'"));
        };
        let ball = BallConstraint {
            body_a: self.body(node, "body1", body1)?,
            p_ap: anchor.into(),
            body_b: self.other_body(node, "body2")?,
            // The position of the anchor in the default configuration.
            p_bq: None,
        };
        let added = self.target.plant.add_ball_constraint(ball);
        added.map_err(|e| node.error(e))
    }

    /// Connects two sites, which need not coincide in the configuration of the file.
    fn connect_sites(&mut self, node: ElementRef<'_>, site1: &str, site2: &str) -> Parsed<()> {
        if self.document.main_compiler().as_drake() {
            node.ignored("constraints between sites are not supported");
            return Ok(());
        }
        let place = |at: &str, name: &str| {
            let mut sites = self.target.plant.sites().iter();
            let site = sites
                .find(|s| s.name() == name && s.model_instance() == self.instance)
                .ok_or_else(|| node.error_at(at, format!("there is no site '{name}'")))?;
            Ok((site.body(), site.pose_in_body().translation.vector))
        };
        let (body_a, p_ap) = place("site1", site1)?;
        let (body_b, p_bq) = place("site2", site2)?;
        let ball = BallConstraint {
            body_a,
            p_ap,
            body_b,
            p_bq: Some(p_bq),
        };
        let added = self.target.plant.add_ball_constraint(ball);
        added.map_err(|e| node.error(e))
    }

    fn keep(&mut self, node: ElementRef<'_>, kind: EqualityKind) -> Parsed<()> {
        node.warning(format!(
            "<{}> is not a constraint of the plant; it is kept in \
             `MultibodyPlant::model_equalities`",
            node.tag()
        ));
        let kept = self.target.plant.add_model_equality(ModelEquality {
            name: node.name().unwrap_or_default().into(),
            model_instance: self.instance,
            active: node.text("active").is_none_or(|a| a.trim() != "false"),
            kind,
        });
        kept.map_err(|e| node.error(e))
    }

    fn keep_weld(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        let Some(body1) = node.own_text("body1") else {
            node.ignored("constraints between sites are not supported");
            return Ok(());
        };
        let body_a = self.body(node, "body1", body1)?;
        let body_b = self.other_body(node, "body2")?;
        let given = node.vector::<7>("relpose")?;
        let given =
            given.and_then(|[x, y, z, q @ ..]| Some((math::quaternion_wxyz(q)?, [x, y, z])));
        let x_ab = match given {
            Some((rotation, position)) => math::pose(rotation, Vector3::from(position)),
            // A zero quaternion stands for the relative pose in the configuration of the file.
            None => {
                let pose = |body| self.poses.get(body).copied().unwrap_or_default();
                pose(&body_a).inv_mul(&pose(&body_b))
            }
        };
        let weld = WeldConstraint {
            body_a,
            x_ap: x_ab,
            body_b,
            x_bq: Default::default(),
        };
        self.keep(node, EqualityKind::Weld(weld))
    }

    fn keep_joint(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        let Some(joint1) = node.own_text("joint1") else {
            return Err(node.error("<joint> of <equality> has no attribute 'joint1'"));
        };
        let joint0 = self.joint(node, "joint1", joint1)?;
        let joint1 = node.own_text("joint2");
        let joint1 = joint1
            .map(|name| self.joint(node, "joint2", name))
            .transpose()?;
        let numbers = node.numbers("polycoef")?.unwrap_or(vec![0.0, 1.0]);
        if numbers.len() > 5 {
            let message = format!(
                "'polycoef' must have at most 5 numbers, got {}",
                numbers.len()
            );
            return Err(node.error_at("polycoef", message));
        }
        let mut coefficients = [0.0; 5];
        coefficients[..numbers.len()].copy_from_slice(&numbers);
        let kind = EqualityKind::Joint {
            joint0,
            joint1,
            coefficients,
        };
        self.keep(node, kind)
    }
}
