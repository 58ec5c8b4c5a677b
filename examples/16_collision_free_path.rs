//! Continuous collision checking: is a path of joint angles free of collisions, not only at samples
//! but also between them?
//!
//! While a joint turns by an angle, no point of a body moves farther than that angle times its
//! largest possible distance from the joint. If two bodies are farther apart than both can move,
//! they cannot collide; so the check advances by as much as the distances allow (conservative
//! advancement; see B. Mirtich, Impulse-based dynamic simulation of rigid body systems, 1996).

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use tarragon::geometry::{SceneGraphInspector, SignedDistancePair, calc_obb};
use tarragon::multibody::JointKind;
use tarragon::prelude::*;

/// A path is free if it keeps at least this distance (m).
const CLEARANCE: f64 = 0.005;
/// Accuracy of the smallest distance along a path (m).
const TOLERANCE: f64 = 0.001;
/// Pairs farther apart than this (m) are not measured, and are reported only up to slightly less.
const NEAR: f64 = 0.25;
const REPORTED: f64 = 0.2;

type AnyResult<V> = Result<V, Box<dyn std::error::Error + Send + Sync>>;
type Pair = (GeometryId, GeometryId);

/// Positions that move a geometry or a pair, each with the farthest distance that a point can move
/// per rad or m.
type Reach = Vec<(usize, f64)>;

/// Bounds on the motion of all pairs of geometries that may collide.
struct EdgeChecker {
    position: InputPort<Vec<f64>>,
    query: OutputPort<QueryObject<f64>>,
    reach: BTreeMap<Pair, Reach>,
}

/// The smallest distance along a path, or the first one below the clearance.
#[derive(Clone, Debug, PartialEq)]
struct Verdict {
    /// Measured at a query; between queries the distance is smaller by at most the tolerance.
    distance: f64,
    /// The closest pair; None if all pairs are far apart.
    pair: Option<Pair>,
    /// Place on the path: index of the edge and fraction of it.
    at: (usize, f64),
    queries: usize,
}

impl Verdict {
    fn is_free(&self) -> bool {
        self.distance >= CLEARANCE
    }
}

/// Walks from a geometry's body to the world, and sums the lengths that may lie between a joint and
/// the geometry.
fn reach(
    plant: &MultibodyPlant,
    inspector: SceneGraphInspector<'_>,
    id: GeometryId,
) -> AnyResult<Reach> {
    let mut body = plant.body_from_frame_id(inspector.frame_id(id)?);
    // Geometries fixed to the world cannot move, half spaces included.
    let mut radius = match calc_obb(inspector.shape(id)?)? {
        Some(obb) => {
            let center = (inspector.pose_in_frame(id)? * obb.pose())
                .translation
                .vector;
            center.norm() + obb.half_width().norm()
        }
        None => f64::INFINITY,
    };
    let mut reach = vec![];
    while let Some((at, index)) = body.and_then(|b| Some((b, plant.inboard_joint(b)?))) {
        let joint = plant.joint(index)?;
        let (on_child, on_parent) = (joint.pose_on_child(), joint.pose_on_parent());
        // The joint's parent is usually the inner body, but need not be.
        let (here, there, inner) = if joint.child_body() == at {
            (on_child, on_parent, joint.parent_body())
        } else {
            (on_parent, on_child, joint.child_body())
        };
        // Adds the ways to the joint's frame on this body, across the joint, and to the next body's
        // origin.
        radius += here.translation.vector.norm();
        let start = plant.position_start(index)?;
        match joint.kind() {
            JointKind::Weld { .. } => {}
            JointKind::Revolute { .. } => reach.push((start, radius)),
            JointKind::Prismatic { .. } => {
                reach.push((start, 1.0));
                let lower = joint.position_lower_limits()[0].abs();
                radius += lower.max(joint.position_upper_limits()[0].abs());
            }
            // Other joints have no bound here, which matters only if a path moves them.
            _ => {
                let positions = start..start + joint.num_positions();
                reach.extend(positions.map(|k| (k, f64::INFINITY)));
                radius = f64::INFINITY;
            }
        }
        radius += there.translation.vector.norm();
        body = Some(inner);
    }
    Ok(reach)
}

/// The joints that move exactly one of two geometries: moving both changes no distance.
fn between(a: &Reach, b: &Reach) -> Reach {
    let alone = |a: &Reach, b: &Reach| -> Reach {
        let shared = |k: usize| b.iter().any(|(other, _)| *other == k);
        a.iter().filter(|(k, _)| !shared(*k)).copied().collect()
    };
    [alone(a, b), alone(b, a)].concat()
}

impl EdgeChecker {
    fn new(
        plant: &Block<MultibodyPlant>,
        scene: &Block<SceneGraph>,
        ctx: &Context<f64>,
    ) -> AnyResult<Self> {
        let inspector = ctx.eval(scene.query)?.inspector();
        let ids = inspector.geometry_ids_with_role(Role::Proximity);
        let each: BTreeMap<GeometryId, Reach> = ids
            .map(|id| Ok((id, reach(plant, inspector, id)?)))
            .collect::<AnyResult<_>>()?;
        let pairs = inspector.collision_candidates().into_iter();
        Ok(Self {
            position: plant.position()?,
            query: scene.query,
            reach: pairs
                .map(|(a, b)| ((a, b), between(&each[&a], &each[&b])))
                .collect(),
        })
    }

    /// Follows straight lines between the waypoints, which are positions of the whole plant.
    fn check(&self, path: &[Vec<f64>], ctx: &mut Context<f64>) -> AnyResult<Verdict> {
        let mut verdict = Verdict {
            distance: REPORTED,
            pair: None,
            at: (0, 0.0),
            queries: 0,
        };
        for (edge, ends) in path.windows(2).enumerate() {
            let step: Vec<f64> = ends[0].iter().zip(&ends[1]).map(|(a, b)| b - a).collect();
            // Bound on how much closer a pair can come along the whole edge.
            let moved = |reach: &Reach| -> f64 {
                let by = reach.iter().filter(|(k, _)| step[*k] != 0.0);
                by.map(|(k, radius)| radius * step[*k].abs()).sum()
            };
            let rates: BTreeMap<Pair, f64> = self
                .reach
                .iter()
                .map(|(pair, r)| (*pair, moved(r)))
                .collect();
            let fastest = rates.values().copied().fold(0.0, f64::max);
            if !fastest.is_finite() {
                return Err(format!("edge {edge} moves a joint whose reach has no bound").into());
            }
            let mut s: f64 = 0.0;
            loop {
                let q = ends[0].iter().zip(&step).map(|(q, dq)| q + s * dq);
                ctx.fix(self.position, q.collect::<Vec<_>>())?;
                let query = ctx.eval(self.query)?;
                let near = query.compute_signed_distance_pairwise_closest_points(NEAR)?;
                verdict.queries += 1;
                for pair in &near {
                    if pair.distance < verdict.distance {
                        verdict.distance = pair.distance;
                        verdict.pair = Some((pair.id_a, pair.id_b));
                        verdict.at = (edge, s);
                    }
                }
                if s == 1.0 || !verdict.is_free() {
                    break;
                }
                // Until the next query, no distance falls below this one.
                let floor = verdict.distance - TOLERANCE;
                let far = (NEAR - floor) / fastest;
                let rate = |pair: &SignedDistancePair<f64>| rates[&(pair.id_a, pair.id_b)];
                let steps = near.iter().filter(|pair| rate(pair) > 0.0);
                let steps = steps.map(|pair| (pair.distance - floor) / rate(pair));
                s = (s + steps.fold(far, f64::min)).min(1.0);
            }
            if !verdict.is_free() {
                break;
            }
        }
        Ok(verdict)
    }
}

fn main() -> AnyResult<()> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models");
    let mut plant = MultibodyPlantBuilder::new(0.001)?;
    plant.set_position_source(PositionSource::InputPort);
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.package_map_mut().populate_from_folder(&models)?;
    parser.add_models(models.join("scenes/table_top_planning.dmd.yaml"))?;
    let plant = plant.build_with_scene(&mut scene)?;

    // Paths move the arm; everything else stays at its default.
    let q0 = plant.default_positions();
    let first = plant.position_start(plant.joint_by_name("arm7::joint1")?)?;
    let whole = |arm: &[f64]| {
        let mut q = q0.clone();
        q[first..first + arm.len()].copy_from_slice(arm);
        q
    };
    let motion: serde_json::Value =
        serde_json::from_slice(&std::fs::read(models.join("arm7/motion.json"))?)?;
    let over: Vec<Vec<f64>> = serde_json::from_value(motion["q"].clone())?;
    // The hand sweeps low over the table; only the base joint turns.
    let sweep = |base: f64| {
        let mut q = whole(&over[3]);
        q[first] = base;
        q[first + 1] += 0.08;
        q
    };
    let folded = [0.0, -0.3, 0.0, 2.4, 0.0, 2.1, 0.0];
    let upright = [0.0; 7];
    let paths: Vec<(&str, Vec<Vec<f64>>)> = vec![
        ("over the things", over.iter().map(|q| whole(q)).collect()),
        ("straight", vec![whole(&over[1]), whole(&over[5])]),
        ("sweep", vec![sweep(-1.4), sweep(1.4)]),
        ("up", vec![whole(&over[0]), whole(&upright)]),
        ("fold", vec![whole(&upright), whole(&folded)]),
    ];

    let mut b = DiagramBuilder::new();
    let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    let mut ctx = b.build()?.default_context();
    ctx.fix(plant.position()?, q0)?;
    let checker = EdgeChecker::new(&plant, &scene, &ctx)?;

    // A context belongs to one thread, so each path gets a clone.
    let work: Vec<_> = paths.iter().map(|(_, path)| (path, ctx.clone())).collect();
    let verdicts: Vec<Verdict> = work
        .into_par_iter()
        .map(|(path, mut ctx)| checker.check(path, &mut ctx))
        .collect::<AnyResult<_>>()?;

    let inspector = scene.model_inspector();
    let name =
        |id: GeometryId| -> AnyResult<&str> { Ok(inspector.frame_name(inspector.frame_id(id)?)?) };
    for ((what, path), verdict) in paths.iter().zip(&verdicts) {
        let (edge, s) = verdict.at;
        let pair = match verdict.pair {
            Some((a, b)) => format!("{} - {}", name(a)?, name(b)?),
            None => "all".to_owned(),
        };
        println!(
            "{what:15} {:7}  {:6.1} mm at {edge} + {s:.4} of {} edges, {pair} ({} queries)",
            if verdict.is_free() { "free" } else { "blocked" },
            1e3 * verdict.distance,
            path.len() - 1,
            verdict.queries
        );
    }

    // Repeats the check on one thread, and searches dense samples, which must find nothing nearer.
    for ((_, path), verdict) in paths.iter().zip(&verdicts) {
        if checker.check(path, &mut ctx)? != *verdict {
            return Err("threads changed a verdict".into());
        }
        let samples = 200;
        for ends in path.windows(2).filter(|_| verdict.is_free()) {
            for k in 0..=samples {
                let s = f64::from(k) / f64::from(samples);
                let q = ends[0].iter().zip(&ends[1]).map(|(a, b)| a + s * (b - a));
                ctx.fix(checker.position, q.collect::<Vec<_>>())?;
                let query = ctx.eval(checker.query)?;
                let floor = verdict.distance - TOLERANCE;
                let nearer = query.compute_signed_distance_pairwise_closest_points(floor)?;
                if let Some(pair) = nearer.first() {
                    return Err(format!("missed: {} m at {s}", pair.distance).into());
                }
            }
        }
    }
    println!("confirmed, by one thread and by dense samples");
    Ok(())
}
