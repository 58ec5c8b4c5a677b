//! Draws a model as a tree of text.

use super::report::Inspected;
use std::error::Error;
use std::fmt::Write;
use tarragon::geometry::GeometryId;
use tarragon::multibody::{BodyIndex, Joint, JointIndex, MjcfSemantics};

/// A joint's range, as short text.
fn range(joint: &Joint) -> String {
    let limits = joint
        .position_lower_limits()
        .iter()
        .zip(joint.position_upper_limits());
    let bounded = |(l, u): &(&f64, &f64)| l.is_finite() || u.is_finite();
    let ranges: Vec<String> = limits
        .filter(bounded)
        .map(|(l, u)| format!("[{l:.4}, {u:.4}]"))
        .collect();
    ranges.join(" ")
}

/// Draws models, their bodies below the joints that carry them, with masses and geometries.
pub(super) fn draw(inspected: &Inspected) -> Result<String, Box<dyn Error>> {
    let plant = &inspected.plant;
    let mut text = String::new();
    let models: Vec<String> = inspected
        .models
        .iter()
        .map(|m| inspected.model_name(*m))
        .collect();
    let reading = match inspected.mjcf_semantics {
        None => "",
        Some(MjcfSemantics::MuJoCo) => " (MJCF as MuJoCo reads it)",
        Some(MjcfSemantics::Drake) => " (MJCF as Drake reads it)",
    };
    writeln!(text, "models: {}{reading}", models.join(", "))?;
    writeln!(
        text,
        "{} bodies, {} joints, {} positions, {} velocities, {} actuators, {:.6} kg",
        plant.num_bodies(),
        plant.num_joints(),
        plant.num_positions(),
        plant.num_velocities(),
        plant.actuators().len(),
        plant.calc_total_mass()
    )?;
    let mut children: Vec<Vec<(JointIndex, BodyIndex)>> = vec![vec![]; plant.num_bodies()];
    for (body, _) in plant.bodies() {
        if let Some(index) = plant.inboard_joint(body) {
            let joint = plant.joint(index)?;
            let parent = match joint.child_body() == body {
                true => joint.parent_body(),
                false => joint.child_body(),
            };
            children[parent.index()].push((index, body));
        }
    }
    writeln!(text, "world{}", geometries(inspected, BodyIndex::WORLD)?)?;
    // Bodies to draw, each with the lines to its left.
    let mut stack: Vec<(JointIndex, BodyIndex, String, bool)> = vec![];
    push(&mut stack, &children[0], "");
    while let Some((index, body, left, last)) = stack.pop() {
        let joint = plant.joint(index)?;
        let found = plant.body(body)?;
        let branch = if last { "`-" } else { "|-" };
        let mut how = format!("{} '{}'", joint.kind().type_name(), joint.name());
        if let Some(axis) = joint.kind().axis() {
            write!(how, " about [{:.4} {:.4} {:.4}]", axis.x, axis.y, axis.z)?;
        }
        for part in [range(joint), passive(joint), motors(inspected, index)] {
            if !part.is_empty() {
                write!(how, " {part}")?;
            }
        }
        writeln!(
            text,
            "{left}{branch} {}  {:.6} kg{}  <- {how}",
            inspected.body_name(body)?,
            found.spatial_inertia().mass(),
            geometries(inspected, body)?
        )?;
        let left = format!("{left}{}", if last { "   " } else { "|  " });
        push(&mut stack, &children[body.index()], &left);
    }
    for body in plant.deformable_bodies() {
        writeln!(
            text,
            "deformable {}::{}  {:.6} kg, {} vertices, {} tetrahedra, {:?}",
            inspected.model_name(body.model_instance()),
            body.name(),
            body.mass(),
            body.num_vertices(),
            body.num_elements(),
            body.config().material_model
        )?;
    }
    let inspector = inspected.scene.model_inspector();
    for id in inspector.all_driven_geometry_ids() {
        if let Some(skin) = inspector.skin(id)? {
            let (name, bones) = (inspector.name(id)?, skin.bones().len());
            writeln!(text, "skin {name}  {bones} bones")?;
        }
    }
    let inactive = inspected.inactive_constraints()?.len();
    if inactive > 0 {
        let all = plant.constraints().len();
        writeln!(text, "{inactive} of {all} constraints inactive")?;
    }
    let warnings = inspected.diagnostics.len();
    if warnings > 0 {
        writeln!(text, "{warnings} warnings:")?;
    }
    for diagnostic in &inspected.diagnostics {
        writeln!(text, "  {diagnostic}")?;
    }
    Ok(text.trim_end().to_string())
}

fn push(
    stack: &mut Vec<(JointIndex, BodyIndex, String, bool)>,
    children: &[(JointIndex, BodyIndex)],
    left: &str,
) {
    for (i, (joint, body)) in children.iter().enumerate().rev() {
        stack.push((*joint, *body, left.to_string(), i + 1 == children.len()));
    }
}

/// Armature and dry friction of a joint that has some.
fn passive(joint: &Joint) -> String {
    let (armature, friction) = (joint.armature(), joint.dry_friction());
    let parts = [("armature", armature), ("dry friction", friction)];
    let parts = parts.into_iter().filter(|(_, value)| *value != 0.0);
    let parts: Vec<String> = parts
        .map(|(what, value)| format!("{what} {value}"))
        .collect();
    parts.join(" ")
}

fn motors(inspected: &Inspected, joint: JointIndex) -> String {
    let motors = inspected.plant.actuators().iter().filter_map(|motor| {
        let coupled = motor.coupled_joints();
        let ratio = match motor.joint() == Some(joint) {
            true => 1.0,
            false => coupled.iter().find(|(other, _)| *other == joint)?.1,
        };
        let (name, limit) = (motor.name(), motor.effort_limit() * ratio.abs());
        Some(match coupled.is_empty() {
            true => format!("driven by '{name}' up to {limit}"),
            false => format!("driven by '{name}' with others up to {limit}"),
        })
    });
    motors.collect::<Vec<_>>().join(", ")
}

/// Number of a body's geometries in each role.
fn geometries(inspected: &Inspected, body: BodyIndex) -> Result<String, Box<dyn Error>> {
    let plant = &inspected.plant;
    let (visuals, collisions) = (
        plant.visual_geometries(body),
        plant.collision_geometries(body),
    );
    let inspector = inspected.scene.model_inspector();
    let names = |ids: &[GeometryId]| -> Result<String, Box<dyn Error>> {
        let names = ids.iter().map(|id| Ok(inspector.shape(*id)?.type_name()));
        let mut names = names.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
        names.sort_unstable();
        let counted: Vec<String> = names
            .chunk_by(|a, b| a == b)
            .map(|same| match same.len() {
                1 => same[0].to_string(),
                n => format!("{n} {}", same[0]),
            })
            .collect();
        Ok(counted.join(" "))
    };
    let mut text = String::new();
    for (what, ids) in [("visual", visuals), ("collision", collisions)] {
        if !ids.is_empty() {
            write!(text, ", {what}: {}", names(ids)?)?;
        }
    }
    Ok(text)
}
