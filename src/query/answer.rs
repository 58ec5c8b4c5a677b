//! Queries of a scene, and the lines of the output.

use super::Answered;
use super::hydroelastic::{self, ContactSurfaceJson, HydroMeshJson, SurfaceRequest};
use super::number::Number;
use super::scene::Scene;
use nalgebra::{Isometry3, Vector3};
use serde::Serialize;
use tarragon::framework::{Block, Diagram, Scalar, math};
use tarragon::geometry::proximity::{distance_to_point, signed_distance_within};
use tarragon::geometry::{
    CollisionFilterDeclaration, ContactSurface, FrameId, GeometryId, GeometrySet,
    PenetrationAsPointPair, SceneGraphConfig, SignedDistancePair, SignedDistanceToPoint, SourceId,
};
use tarragon::prelude::*;

#[derive(Serialize)]
struct PenetrationJson<'a, N> {
    a: &'a str,
    b: &'a str,
    depth: N,
    nhat_ba_w: [N; 3],
    p_wca: [N; 3],
    p_wcb: [N; 3],
}

#[derive(Serialize)]
struct SignedDistanceJson<'a, N> {
    a: &'a str,
    b: &'a str,
    distance: N,
    nhat_ba_w: [N; 3],
    p_aca: [N; 3],
    p_bcb: [N; 3],
}

#[derive(Serialize)]
struct PointJson<'a, N> {
    g: &'a str,
    distance: N,
    grad_w: [N; 3],
    p_gn: [N; 3],
}

/// One line of the output.
#[derive(Serialize)]
struct AnswerJson<'a, N> {
    penetration: Vec<PenetrationJson<'a, N>>,
    signed_distance: Vec<SignedDistanceJson<'a, N>>,
    point: Vec<PointJson<'a, N>>,
    /// Absent if not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    contact_surfaces: Option<Vec<ContactSurfaceJson<'a, N>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hydro_meshes: Option<Vec<HydroMeshJson<'a>>>,
    error: Option<String>,
}

impl<N: Serialize> AnswerJson<'_, N> {
    fn written(&self) -> Answered {
        Answered {
            json: serde_json::to_string(self).expect("structs of strings and numbers"),
            failed: self.error.is_some(),
        }
    }
}

/// The answer to a line that could not be parsed.
pub(super) fn failed(error: &str) -> Answered {
    let answer = AnswerJson::<f64> {
        penetration: vec![],
        signed_distance: vec![],
        point: vec![],
        contact_surfaces: None,
        hydro_meshes: None,
        error: Some(error.into()),
    };
    answer.written()
}

/// A scene built as a diagram.
struct Built {
    diagram: Diagram<f64>,
    scene_graph: Block<SceneGraph>,
    source: SourceId,
    /// Geometry ids in the order of the scene.
    ids: Vec<GeometryId>,
    /// Frames of the geometries; None for those anchored in the diagram.
    frames: Vec<Option<FrameId>>,
}

/// Builds a diagram with every geometry, each movable one on its own frame. Poses of anchored
/// geometries are constants, so with `AutoDiff` the first geometry gets a frame even if it is
/// anchored.
fn build(scene: &Scene) -> Result<Built, Box<dyn std::error::Error>> {
    let mut graph = SceneGraph::with_config(SceneGraphConfig {
        default_proximity_properties: scene.defaults,
    })?;
    let source = graph.register_source("scene")?;
    let (mut ids, mut frames) = (vec![], vec![]);
    for (i, g) in scene.geometries.iter().enumerate() {
        let instance = |pose: Isometry3<f64>| {
            let instance = GeometryInstance::new(pose, g.shape.clone(), &g.name);
            instance.map(|instance| instance.with_proximity(g.proximity.clone()))
        };
        if g.anchored && !(scene.autodiff && i == 0) {
            frames.push(None);
            ids.push(graph.register_anchored_geometry(source, instance(g.x_wg)?)?);
        } else {
            let frame = graph.register_frame(source, GeometryFrame::new(&g.name))?;
            frames.push(Some(frame));
            ids.push(graph.register_geometry(source, frame, instance(Isometry3::identity())?)?);
        }
    }
    let anchored = scene.geometries.iter().map(|g| g.anchored);
    let anchored = ids.iter().zip(anchored).filter(|(_, anchored)| *anchored);
    let anchored = anchored.fold(GeometrySet::new(), |set, (id, _)| set.with_geometry(*id));
    graph.apply_collision_filter(&CollisionFilterDeclaration::new().exclude_within(anchored))?;
    let mut builder = DiagramBuilder::new();
    let scene_graph = builder.add("scene_graph", graph);
    Ok(Built {
        diagram: builder.build()?,
        scene_graph,
        source,
        ids,
        frames,
    })
}

/// A pose with derivatives by the position, then by a rotation about the world's axes at the
/// frame's origin.
fn moving(x: &Isometry3<f64>) -> Isometry3<AutoDiff> {
    let variable = |value: f64, i: usize| AutoDiff::variable(value, i);
    let turn = Vector3::from_fn(|i, _| variable(0.0, 3 + i));
    let position = Vector3::from_fn(|i, _| variable(x.translation.vector[i], i));
    math::pose(math::rotation_exp(&turn) * x.rotation.cast(), position)
}

/// Answers a parsed scene; queries that fail are reported in `error`.
pub(super) fn answer(scene: &Scene, line: usize) -> Result<Answered, String> {
    let solve = || -> Result<Answered, Box<dyn std::error::Error>> {
        let built = build(scene)?;
        if scene.autodiff {
            let pose = |i: usize, x: &Isometry3<f64>| if i == 0 { moving(x) } else { x.cast() };
            evaluate(scene, &built, &built.diagram.to_scalar()?, pose, line)
        } else {
            evaluate(scene, &built, &built.diagram, |_, x| *x, line)
        }
    };
    solve().map_err(|e| e.to_string())
}

/// Sets the frame poses, evaluates the queries and writes the answer.
fn evaluate<T: Number>(
    scene: &Scene,
    built: &Built,
    diagram: &Diagram<T>,
    pose: impl Fn(usize, &Isometry3<f64>) -> Isometry3<T>,
    line: usize,
) -> Result<Answered, Box<dyn std::error::Error>> {
    let ports = diagram.ports(&built.scene_graph)?;
    let mut ctx = diagram.default_context();
    let poses = built.frames.iter().zip(&scene.geometries).enumerate();
    let poses = poses.filter_map(|(i, (frame, g))| Some(((*frame)?, pose(i, &g.x_wg))));
    let poses = poses.collect::<FramePoseVector<T>>();
    ctx.fix(ports.source_pose_port(built.source)?, poses)?;
    let mut asked = Asked {
        query: ctx.eval(ports.query)?,
        ids: &built.ids,
        errors: vec![],
    };
    let name = |id: GeometryId| {
        // Ids increase in the order of registration.
        let number = built.ids.partition_point(|other| *other < id);
        scene.geometries[number].name.as_str()
    };
    let mut answer = AnswerJson {
        penetration: vec![],
        signed_distance: vec![],
        point: vec![],
        contact_surfaces: None,
        hydro_meshes: None,
        error: None,
    };
    let penetration = |p: PenetrationAsPointPair<T>| PenetrationJson {
        a: name(p.id_a),
        b: name(p.id_b),
        depth: p.depth.json(),
        nhat_ba_w: T::vector(&p.nhat_ba_w),
        p_wca: T::vector(&p.p_wca),
        p_wcb: T::vector(&p.p_wcb),
    };
    if scene.penetration {
        let found = asked.penetration()?.into_iter();
        answer.penetration = found.map(penetration).collect();
    }
    if let Some(request) = scene.contact_surfaces {
        let (surfaces, points) = asked.contact_surfaces(request);
        let surfaces = surfaces.iter();
        let surfaces = surfaces.map(|surface| hydroelastic::summary(surface, name));
        answer.contact_surfaces = Some(surfaces.collect());
        if request.fallback {
            answer.penetration = points.into_iter().map(penetration).collect();
        }
    }
    if scene.hydro_meshes {
        let meshes = built
            .ids
            .iter()
            .map(|id| hydroelastic::mesh(asked.query, *id, name(*id)));
        answer.hydro_meshes = Some(meshes.collect::<Result<_, _>>()?);
    }
    if scene.signed_distance {
        let found = asked.signed_distance(scene.max_distance)?.into_iter();
        answer.signed_distance = found
            .map(|d| SignedDistanceJson {
                a: name(d.id_a),
                b: name(d.id_b),
                distance: d.distance.json(),
                nhat_ba_w: T::vector(&d.nhat_ba_w),
                p_aca: T::vector(&d.p_aca),
                p_bcb: T::vector(&d.p_bcb),
            })
            .collect();
    }
    if let Some(point) = scene.point {
        let found = asked.point(&point.map(T::from))?.into_iter();
        answer.point = found
            .map(|d| PointJson {
                g: name(d.id_g),
                distance: d.distance.json(),
                grad_w: T::vector(&d.grad_w),
                p_gn: T::vector(&d.p_gn),
            })
            .collect();
    }
    let errors = asked.errors;
    answer.error = (!errors.is_empty()).then(|| format!("line {line}: {}", errors.join("; ")));
    Ok(answer.written())
}

/// Evaluation of the queries. The scene graph answers all pairs or none; if it fails, each pair is
/// queried by itself.
struct Asked<'a, T: Scalar> {
    query: &'a QueryObject<T>,
    ids: &'a [GeometryId],
    /// Distinct errors of failed queries.
    errors: Vec<String>,
}

type Found<V> = Result<Vec<V>, Error>;

impl<T: Scalar> Asked<'_, T> {
    /// Collects the answers of keys that succeed, and records the errors of the others.
    fn each<K, V>(
        &mut self,
        asked: Vec<K>,
        ask: impl Fn(&QueryObject<T>, K) -> Result<Option<V>, String>,
    ) -> Vec<V> {
        let mut found = vec![];
        for key in asked {
            match ask(self.query, key) {
                Ok(answer) => found.extend(answer),
                Err(error) if !self.errors.contains(&error) => self.errors.push(error),
                Err(_) => {}
            }
        }
        found
    }

    /// All pairs to test, in order.
    fn pairs(&self) -> Result<Vec<(GeometryId, GeometryId)>, Error> {
        let (inspector, mut pairs) = (self.query.inspector(), vec![]);
        for (i, &a) in self.ids.iter().enumerate() {
            for &b in &self.ids[i + 1..] {
                if !inspector.collision_filtered(a, b)? {
                    pairs.push((a, b));
                }
            }
        }
        Ok(pairs)
    }

    fn penetration(&mut self) -> Found<PenetrationAsPointPair<T>> {
        let all = self.query.compute_point_pair_penetration();
        if all.is_ok() {
            return all;
        }
        let pairs = self.pairs()?;
        Ok(self.each(pairs, |query, (id_a, id_b)| {
            let solve = || {
                let inspector = query.inspector();
                signed_distance_within(
                    inspector.shape(id_a)?,
                    query.geometry_pose_in_world(id_a)?,
                    inspector.shape(id_b)?,
                    query.geometry_pose_in_world(id_b)?,
                    0.0,
                )
            };
            let found = solve().map_err(|e| in_place(query, &[id_a, id_b], &e))?;
            let found = found.filter(|d| d.distance.re() < 0.0);
            Ok(found.map(|d| PenetrationAsPointPair {
                id_a,
                id_b,
                depth: -d.distance,
                nhat_ba_w: d.nhat_ba_w,
                p_wca: d.p_wca,
                p_wcb: d.p_wcb,
            }))
        }))
    }

    /// All contact surfaces, and with fallback the penetrations of the other pairs; none if a pair
    /// fails.
    fn contact_surfaces(
        &mut self,
        request: SurfaceRequest,
    ) -> (Vec<ContactSurface<T>>, Vec<PenetrationAsPointPair<T>>) {
        let (query, representation) = (self.query, request.representation);
        let found = if request.fallback {
            query.compute_contact_surfaces_with_fallback(representation)
        } else {
            let surfaces = query.compute_contact_surfaces(representation);
            surfaces.map(|surfaces| (surfaces, vec![]))
        };
        found.unwrap_or_else(|error| {
            self.errors.push(error.to_string());
            (vec![], vec![])
        })
    }

    fn signed_distance(&mut self, max_distance: f64) -> Found<SignedDistancePair<T>> {
        let query = self.query;
        let all = query.compute_signed_distance_pairwise_closest_points(max_distance);
        if all.is_ok() {
            return all;
        }
        let pairs = self.pairs()?;
        Ok(self.each(pairs, |query, (a, b)| {
            let found = query.compute_signed_distance_pair_closest_points(a, b);
            let found = found.map_err(|e| e.to_string())?;
            Ok((found.distance.re() <= max_distance).then_some(found))
        }))
    }

    fn point(&mut self, p_wq: &Vector3<T>) -> Found<SignedDistanceToPoint<T>> {
        let query = self.query;
        let all = query.compute_signed_distance_to_point(p_wq, f64::INFINITY);
        if all.is_ok() {
            return all;
        }
        Ok(self.each(self.ids.to_vec(), |query, id_g| {
            let solve = || {
                let x_wg = query.geometry_pose_in_world(id_g)?;
                distance_to_point(query.inspector().shape(id_g)?, x_wg, p_wq)
            };
            let found = solve().map_err(|e| in_place(query, &[id_g], &e))?;
            Ok(Some(SignedDistanceToPoint {
                id_g,
                p_gn: found.p_gn,
                distance: found.distance,
                grad_w: found.grad_w,
            }))
        }))
    }
}

/// Names the geometries that an error is about, in the scene graph's words.
fn in_place<T: Scalar>(query: &QueryObject<T>, ids: &[GeometryId], error: &Error) -> String {
    let inspector = query.inspector();
    let names = ids.iter().filter_map(|id| inspector.name(*id).ok());
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    let what = if ids.len() == 1 {
        "geometry"
    } else {
        "geometries"
    };
    format!("{what} {}: {error}", names.join(" and "))
}
