//! Springs, dry friction and armature of joints, where a file is read as by MuJoCo.

use super::builder::{MjcfBuilder, SpringDamper};
use super::tree::ElementRef;
use tarragon_documents::xml::Parsed;
use tarragon_multibody::{ForceElement, Joint, JointIndex, JointKind};

const NO_SPRINGS: &str = "ball joints have no springs";

/// Returns the joint with the dry friction of its element.
pub(super) fn with_dry_friction(node: ElementRef<'_>, joint: Joint) -> Parsed<Joint> {
    let friction = node.number("frictionloss")?.unwrap_or(0.0);
    let joint = joint.with_dry_friction(friction);
    joint.map_err(|e| node.error_at("frictionloss", e))
}

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds the spring of a joint, and keeps the limits of the efforts of its actuators. `scale`
    /// converts a position of the file.
    pub(super) fn add_spring(
        &mut self,
        node: ElementRef<'d>,
        joint: JointIndex,
        scale: impl Fn(f64) -> f64,
    ) -> Parsed<()> {
        if let Some(range) = self.nonempty_limits(node, "actuatorfrclimited", "actuatorfrcrange")? {
            self.effort_ranges.insert(joint, (range, node));
        }
        let stiffness = node.number("stiffness")?.unwrap_or(0.0);
        let rest = scale(node.number("springref")?.unwrap_or(0.0));
        self.spring_positions.insert(joint, rest);
        let wanted = node.vector::<2>("springdamper")?.unwrap_or_default();
        if wanted.iter().all(|x| *x > 0.0) {
            self.spring_dampers.push(SpringDamper {
                node,
                joint,
                rest,
                wanted,
            });
            return Ok(());
        }
        if stiffness == 0.0 {
            Ok(())
        } else {
            self.push_spring(node, joint, rest, stiffness)
        }
    }

    fn push_spring(
        &mut self,
        node: ElementRef<'_>,
        joint: JointIndex,
        rest: f64,
        stiffness: f64,
    ) -> Parsed<()> {
        let plant = &mut self.target.plant;
        let kind = plant.joint(joint).map(|joint| joint.kind().clone());
        let element = match kind.map_err(|e| node.error(e))? {
            JointKind::Revolute { .. } => ForceElement::RevoluteSpring {
                joint,
                nominal_angle: rest,
                stiffness,
            },
            JointKind::Prismatic { .. } => ForceElement::PrismaticSpring {
                joint,
                nominal_position: rest,
                stiffness,
            },
            _ => {
                node.ignore_attributes(&[
                    ("stiffness", NO_SPRINGS),
                    ("springdamper", NO_SPRINGS),
                    ("springref", NO_SPRINGS),
                ]);
                return Ok(());
            }
        };
        let added = plant.add_force_element(element);
        added.map_err(|e| node.error_at("stiffness", e))
    }

    /// Adds the springs and dampers whose constants follow from the inertia of all bodies.
    pub(super) fn add_spring_dampers(&mut self) {
        let Some(first) = self.spring_dampers.first() else {
            return;
        };
        let inertia = match self.default_inertia() {
            Ok(inertia) => inertia,
            Err(error) => {
                let message = format!("attribute 'springdamper' of <joint> is ignored: {error}");
                return first.node.warning_at("springdamper", message);
            }
        };
        for SpringDamper {
            node,
            joint,
            rest,
            wanted: [time, ratio],
        } in std::mem::take(&mut self.spring_dampers)
        {
            let single = self.target.plant.check_single("springdamper", &[joint]);
            let inertia = match single {
                Ok(()) => inertia.while_others_move(joint),
                Err(_) => {
                    node.ignore_attributes(&[("springdamper", NO_SPRINGS)]);
                    continue;
                }
            };
            let Some(inertia) = inertia.filter(|inertia| inertia.is_finite()) else {
                node.warning_at(
                    "springdamper",
                    "attribute 'springdamper' of <joint> is ignored: it is relative to the inertia \
                     of the joint, which must be positive while all others move; give the bodies \
                     around it mass, or the joints armature",
                );
                continue;
            };
            let stiffness = inertia / (time * time * ratio * ratio);
            // Errors were reported.
            if self.push_spring(node, joint, rest, stiffness).is_ok() {
                let damping = [2.0 * inertia / time];
                let set = self.target.plant.set_joint_damping(joint, &damping);
                if let Err(error) = set {
                    node.error_at("springdamper", error);
                }
            }
        }
    }
}
