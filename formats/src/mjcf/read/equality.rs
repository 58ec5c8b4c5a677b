//! `<equality>`: constraints between bodies and between joints.
//!
//! `connect` becomes a ball constraint. Drake ignores all other kinds; where a file is read as by
//! Drake, `weld` and `joint` are kept in the plant without acting on it.

use super::builder::MjcfBuilder;
use super::compiler::boolean;
use super::tendons::tendon_constraint;
use super::tree::ElementRef;
use nalgebra::{Isometry3, Vector3};
use tarragon_documents::names::missing;
use tarragon_documents::xml::Parsed;
use tarragon_framework::math;
use tarragon_multibody::{
    BallConstraint, BodyIndex, Constraint, EqualityKind, ModelEquality, TendonConstraint,
    WeldConstraint,
};

/// The body of a site, and the pose of the site in it.
type PlacedSite = (BodyIndex, Isometry3<f64>);

/// Coefficients of the polynomial that an element without `polycoef` has.
const LINEAR: [f64; 5] = [0.0, 1.0, 0.0, 0.0, 0.0];
const RIGID: &str = "constraints of the plant are as stiff as its time step allows";
const IGNORED_IN_CONNECT: [(&str, &str); 2] = [("solimp", RIGID), ("solref", RIGID)];
/// Attributes of welds that are ignored where a file is read as by MuJoCo.
const IGNORED_IN_WELD: [(&str, &str); 2] = [
    (
        "solimp",
        "welds of the plant are as stiff as its time step allows",
    ),
    (
        "torquescale",
        "welds of the plant are as stiff as its time step allows",
    ),
];
const ALWAYS_ON: [(&str, &str); 1] =
    [("active", "constraints are on until a context disables them")];

impl<'d> MjcfBuilder<'d, '_, '_> {
    pub(super) fn add_equalities(&mut self, root: ElementRef<'d>) {
        for node in root.children_named("equality").flat_map(|e| e.children()) {
            let defaults = &self.document.defaults;
            let node = if self.document.main_compiler().as_drake() {
                defaults.apply(node, None)
            } else {
                defaults.apply_as(node, "equality", None)
            };
            // Errors were reported.
            let as_drake = self.document.main_compiler().as_drake();
            let _ = match node.tag() {
                "connect" if as_drake => self.add_connect(node),
                "weld" if as_drake => self.keep_weld(node),
                "joint" if as_drake => self.keep_joint(node),
                "connect" | "weld" | "joint" => self.add_acting_equality(node),
                "tendon" if !as_drake => self.add_acting_equality(node),
                "tendon" | "flex" => {
                    let is_read = as_drake && node.tag() == "tendon";
                    node.lost_if(is_read)
                        .ignored("this kind of constraint is not supported");
                    Ok(())
                }
                // The vocabulary check reports all others.
                _ => Ok(()),
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
        if boolean(node, "active")? == Some(false) {
            node.lost().ignore_attributes(&ALWAYS_ON);
        }
        let Some(body1) = node.own_text("body1") else {
            if let (Some(_), Some(_)) = (node.own_text("site1"), node.own_text("site2")) {
                node.lost()
                    .ignored("constraints between sites are not supported");
                return Ok(());
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

    /// Keeps an equality that does not act.
    fn keep(&mut self, node: ElementRef<'_>, kind: EqualityKind) -> Parsed<()> {
        node.lost().warning(format!(
            "<{}> is not a constraint of the plant; it is kept in \
             `MultibodyPlantBuilder::model_equalities`",
            node.tag()
        ));
        let kept = self.target.plant.add_model_equality(ModelEquality {
            name: node.name().unwrap_or_default().into(),
            model_instance: self.instance,
            active: boolean(node, "active")?.unwrap_or(true),
            kind,
        });
        kept.map_err(|e| node.error(e))
    }

    fn keep_weld(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        let Some(body1) = node.own_text("body1") else {
            node.lost()
                .ignored("constraints between sites are not supported");
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
        let kind = self.read_joint_equality(node)?;
        self.keep(node, kind)
    }

    /// Reads an equality of one joint or two.
    fn read_joint_equality(&self, node: ElementRef<'_>) -> Parsed<EqualityKind> {
        let Some(joint1) = node.own_text("joint1") else {
            return Err(node.error("<joint> of <equality> has no attribute 'joint1'"));
        };
        let joint0 = self.joint(node, "joint1", joint1)?;
        let joint1 = node.own_text("joint2");
        let joint1 = joint1
            .map(|name| self.joint(node, "joint2", name))
            .transpose()?;
        Ok(EqualityKind::Joint {
            joint0,
            joint1,
            coefficients: read_polycoef(node)?,
        })
    }

    /// Adds an equality as a constraint, where a file is read as by MuJoCo.
    fn add_acting_equality(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        let parameters = self.document.read_solver_parameters(node)?;
        let constraint = match node.tag() {
            "connect" => self.read_connect(node)?,
            "weld" => {
                node.ignore_attributes(&IGNORED_IN_WELD);
                self.read_weld(node)?
            }
            "tendon" => match self.read_tendon_equality(node)? {
                Some(constraint) => {
                    if matches!(
                        constraint,
                        Constraint::Tendon(_) | Constraint::SpatialTendon(_)
                    ) {
                        node.ignore_attributes(&[("solimp", RIGID)]);
                    }
                    constraint
                }
                None => return Ok(()),
            },
            _ => {
                let kind = self.read_joint_equality(node)?;
                check_different(node, ["joint1", "joint2"])?;
                self.joint_constraint(node, kind)?
            }
        };
        let plant = &mut self.target.plant;
        let index = plant.constraints().len();
        let added = plant.add_constraint(constraint);
        let is_active = boolean(node, "active")?.unwrap_or(true);
        let set = added.and_then(|()| {
            plant.set_default_constraint_active(index, is_active)?;
            plant.set_constraint_solver_parameters(index, parameters.solref, parameters.solimp)
        });
        set.map_err(|e| node.error(e))
    }

    /// Returns the frames of two sites, if the element names sites and no bodies.
    fn read_sites(&self, node: ElementRef<'_>) -> Parsed<Option<[PlacedSite; 2]>> {
        let sites = (node.own_text("site1"), node.own_text("site2"));
        let (None, (Some(site1), Some(site2))) = (node.own_text("body1"), sites) else {
            return Ok(None);
        };
        Ok(Some([
            self.site_frame(node, "site1", site1)?,
            self.site_frame(node, "site2", site2)?,
        ]))
    }

    /// Returns the body of the site that an attribute names, and its pose in the body.
    pub(super) fn site_frame(
        &self,
        node: ElementRef<'_>,
        at: &str,
        name: &str,
    ) -> Parsed<PlacedSite> {
        let site = self.sites.get(name).copied();
        let known = self.sites.keys().copied();
        site.ok_or_else(|| node.error_at(at, missing("site", name, known)))
    }

    /// Returns the two bodies of an equality, and the pose of the second in the first.
    fn read_bodies(&self, node: ElementRef<'_>) -> Parsed<(BodyIndex, BodyIndex, Isometry3<f64>)> {
        let tag = node.tag();
        let Some(body1) = node.own_text("body1") else {
            let message = format!("<{tag}> must have 'body1', or 'site1' and 'site2'");
            return Err(node.error(message));
        };
        let body_a = self.body(node, "body1", body1)?;
        let body_b = self.other_body(node, "body2")?;
        let pose = |body| self.poses.get(body).copied().unwrap_or_default();
        Ok((body_a, body_b, pose(&body_a).inv_mul(&pose(&body_b))))
    }

    fn read_connect(&self, node: ElementRef<'_>) -> Parsed<Constraint> {
        if let Some([(body_a, x_ap), (body_b, x_bq)]) = self.read_sites(node)? {
            return Ok(Constraint::Ball(BallConstraint {
                body_a,
                p_ap: x_ap.translation.vector,
                body_b,
                p_bq: Some(x_bq.translation.vector),
            }));
        }
        let (body_a, body_b, x_ab) = self.read_bodies(node)?;
        let Some(anchor) = node.vector::<3>("anchor")? else {
            return Err(node.error("<connect> has 'body1' but no attribute 'anchor'"));
        };
        let anchor = Vector3::from(anchor);
        Ok(Constraint::Ball(BallConstraint {
            body_a,
            p_ap: anchor,
            body_b,
            // The configuration of the file, whatever the default positions become.
            p_bq: Some(x_ab.inverse_transform_point(&anchor.into()).coords),
        }))
    }

    fn read_weld(&self, node: ElementRef<'_>) -> Parsed<Constraint> {
        if let Some([(body_a, x_ap), (body_b, x_bq)]) = self.read_sites(node)? {
            return Ok(Constraint::Weld(WeldConstraint {
                body_a,
                x_ap,
                body_b,
                x_bq,
            }));
        }
        let (body_a, body_b, x_ab) = self.read_bodies(node)?;
        let anchor = Vector3::from(node.vector::<3>("anchor")?.unwrap_or_default());
        let x_bq = math::pose(Default::default(), anchor);
        let given = node.vector::<7>("relpose")?;
        let given =
            given.and_then(|[x, y, z, q @ ..]| Some((math::quaternion_wxyz(q)?, [x, y, z])));
        Ok(Constraint::Weld(WeldConstraint {
            body_a,
            x_ap: match given {
                Some((rotation, position)) => math::pose(rotation, Vector3::from(position)),
                None => x_ab * x_bq,
            },
            body_b,
            x_bq,
        }))
    }

    /// Returns the constraint of an equality of joints.
    fn joint_constraint(&self, node: ElementRef<'_>, kind: EqualityKind) -> Parsed<Constraint> {
        let equality = ModelEquality {
            name: String::new(),
            model_instance: self.instance,
            active: true,
            kind,
        };
        let plant = &self.target.plant;
        if let Some(constraint) = plant.equality_as_constraint(&equality) {
            return Ok(constraint);
        }
        let EqualityKind::Joint {
            joint0,
            coefficients: [constant, ..],
            ..
        } = equality.kind
        else {
            return Err(node.error("the equality must be one of joints"));
        };
        let joint = plant.check_single("equality", &[joint0]);
        let joint = joint.and_then(|()| plant.joint(joint0));
        let joint = joint.map_err(|e| node.error_at("joint1", e))?;
        let fixed = joint.default_positions()[0] + constant;
        Ok(Constraint::Tendon(TendonConstraint {
            lower: fixed,
            upper: fixed,
            ..tendon_constraint(&[(joint0, 1.0)])
        }))
    }
}

/// Checks that two attributes of an equality name different elements, if both are there.
pub(super) fn check_different(node: ElementRef<'_>, attributes: [&str; 2]) -> Parsed<()> {
    let [first, second] = attributes.map(|at| node.own_text(at));
    match second.filter(|_| first == second) {
        None => Ok(()),
        Some(name) => {
            let ([first, second], tag) = (attributes, node.tag());
            let message = format!(
                "'{first}' and '{second}' of <{tag}> must be different, got '{name}' twice"
            );
            Err(node.error_at(second, message))
        }
    }
}

/// Reads the coefficients of the polynomial of an equality.
pub(super) fn read_polycoef(node: ElementRef<'_>) -> Parsed<[f64; 5]> {
    let numbers = node.numbers("polycoef")?.unwrap_or_default();
    if numbers.len() > 5 {
        let message = format!(
            "'polycoef' must have at most 5 numbers, got {}",
            numbers.len()
        );
        return Err(node.error_at("polycoef", message));
    }
    let mut coefficients = LINEAR;
    coefficients[..numbers.len()].copy_from_slice(&numbers);
    Ok(coefficients)
}
