//! The nearest pair of bodies along a trajectory, and the gradient of its distance.

use super::{AnyResult, RATE, World};
use std::io::Write;
use tarragon::geometry::proximity;
use tarragon::prelude::*;

/// Step of central differences (m or rad), which are accurate to about 1e-9 for a smooth distance;
/// the tolerance leaves room for a feature change within the step.
const STEP: f64 = 1e-6;
const TOLERANCE: f64 = 1e-6;

/// Prints the nearest pair over time, with gradients by dual numbers and by central differences.
pub(crate) fn differentiate(world: &World, duration: f64, out: &mut impl Write) -> AnyResult<()> {
    let mut builder = DiagramBuilder::new();
    let (plant, scene) = (world.plant.clone(), world.scene_graph.clone());
    let (plant, scene_graph) = add_multibody_plant_scene_graph(&mut builder, plant, scene)?;
    let diagram = builder.build()?;
    let mut ctx = diagram.default_context();
    let (position, query) = (plant.position()?, scene_graph.query);

    let inspector = scene_graph.model_inspector();
    // Frames are named model::body. Obstacles matter more than the robot's own wrist, so pairs
    // within one model count only if there are no others.
    let model = |id: GeometryId| -> AnyResult<&str> {
        let frame = inspector.frame_name(inspector.frame_id(id)?)?;
        Ok(frame.split("::").next().unwrap_or(frame))
    };
    let mut candidates = vec![];
    for (a, b) in inspector.collision_candidates() {
        candidates.push((model(a)? == model(b)?, a, b));
    }
    let only_within = candidates.iter().all(|c| c.0);
    let (mut pairs, mut left_out) = (vec![], 0);
    for (_, a, b) in candidates.into_iter().filter(|c| only_within || !c.0) {
        if proximity::is_supported(inspector.shape(a)?, inspector.shape(b)?) {
            pairs.push((a, b));
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        writeln!(
            out,
            "left out {left_out} pairs: two half spaces have no distance"
        )?;
    }
    if pairs.is_empty() {
        writeln!(out, "no pair of collision geometry has a distance")?;
        return Ok(());
    }
    let name = |id: GeometryId| -> AnyResult<String> {
        Ok(inspector
            .frame_name(inspector.frame_id(id)?)?
            .replace("::", "/"))
    };

    // The same diagram over dual numbers.
    let dual_diagram = diagram.to_scalar::<AutoDiff>()?;
    let mut dual_ctx = dual_diagram.default_context();
    let dual_position = dual_diagram.ports(&plant)?.position()?;
    let dual_query = dual_diagram.ports(&scene_graph)?.query;

    writeln!(
        out,
        "time s | nearest pair                             | distance mm | |AD - CD| | gradient mm/rad"
    )?;
    let mut worst: f64 = 0.0;
    for step in 0..=(duration * RATE + 1e-9) as usize {
        let time = step as f64 / RATE;
        let q = world.trajectory.value(time);
        let mut distance = |q: &[f64], (a, b)| -> AnyResult<f64> {
            ctx.fix(position, q)?;
            Ok(ctx
                .eval(query)?
                .compute_signed_distance_pair_closest_points(a, b)?
                .distance)
        };
        let mut nearest = (f64::INFINITY, pairs[0]);
        for pair in &pairs {
            let d = distance(&q, *pair)?;
            if d < nearest.0 {
                nearest = (d, *pair);
            }
        }
        let (d, (a, b)) = nearest;
        let (_, gradient) = try_gradient(
            |q| -> AnyResult<AutoDiff> {
                dual_ctx.fix(dual_position, q)?;
                let query = dual_ctx.eval(dual_query)?;
                Ok(query
                    .compute_signed_distance_pair_closest_points(a, b)?
                    .distance)
            },
            &q,
        )?;
        let mut difference: f64 = 0.0;
        for i in 0..q.len() {
            let mut shifted = q.clone();
            shifted[i] = q[i] + STEP;
            let above = distance(&shifted, (a, b))?;
            shifted[i] = q[i] - STEP;
            let below = distance(&shifted, (a, b))?;
            difference = difference.max((gradient[i] - (above - below) / (2.0 * STEP)).abs());
        }
        worst = worst.max(difference);
        let shown: Vec<String> = gradient
            .iter()
            .take(8)
            .map(|g| format!("{:8.1}", 1e3 * g))
            .collect();
        let more = if gradient.len() > 8 { " ..." } else { "" };
        let pair = format!("{} - {}", name(a)?, name(b)?);
        writeln!(
            out,
            "{time:6.2} | {pair:40} | {:11.3} | {difference:9.1e} | {}{more}",
            1e3 * d,
            shown.join(" ")
        )?;
    }
    if worst > TOLERANCE {
        return Err(format!(
            "a gradient differs from central differences by {worst:e}, more than {TOLERANCE:e}"
        )
        .into());
    }
    writeln!(
        out,
        "\nall gradients agree with central differences to {worst:.1e} m/rad"
    )?;
    Ok(())
}
