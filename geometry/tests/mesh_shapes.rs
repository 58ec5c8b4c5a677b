//! Mesh shapes and cones in a scene.

use nalgebra::{Isometry3, Vector3};
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    Convex, FramePoseVector, GeometryFrame, GeometryInstance, HalfSpace, InMemoryMesh, MemoryFile,
    Mesh, MeshcatCone, PerceptionProperties, ProximityProperties, Ray, RayOptions, Role,
    SceneGraph, Shape, Sphere,
};

const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

fn instance(shape: impl Into<Shape>, name: &str) -> GeometryInstance {
    GeometryInstance::new(Isometry3::identity(), shape, name)
        .unwrap()
        .with_proximity(ProximityProperties::new())
}

/// Drake documents this behaviour, but its engine refuses the role when a context is created.
#[test]
fn proximity_queries_ignore_cones() {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let shape = MeshcatCone::new(2.0, 1.0, 0.5).unwrap();
    let perceived = instance(shape, "cone").with_perception(PerceptionProperties::new());
    let cone = scene.register_anchored_geometry(source, perceived);
    let cone = cone.unwrap();
    let mut add = |shape: Shape, name: &str| {
        let frame = scene.register_frame(source, GeometryFrame::new(name));
        let frame = frame.unwrap();
        let id = scene.register_geometry(source, frame, instance(shape, name));
        (frame, id.unwrap())
    };
    let (on_frame, moving) = add(shape.into(), "moving cone");
    let (of_ball, ball) = add(Sphere::new(0.5).unwrap().into(), "ball");
    let (of_floor, floor) = add(HalfSpace.into(), "floor");
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let mut ctx = b.build().unwrap().default_context();
    let all_inside = [on_frame, of_ball, of_floor].map(|f| (f, Isometry3::identity()));
    let port = scene.source_pose_port(source).unwrap();
    ctx.fix(port, FramePoseVector::from_iter(all_inside))
        .unwrap();

    let query = ctx.eval(scene.query).unwrap();
    let inspector = query.inspector();
    assert_eq!(inspector.num_geometries_with_role(Role::Proximity), 4);
    assert_eq!(inspector.collision_candidates(), [(ball, floor)]);
    assert!(inspector.collision_filtered(cone, ball).unwrap());
    assert_eq!(query.find_collision_candidates(), [(ball, floor)]);
    assert_eq!(query.compute_point_pair_penetration().unwrap().len(), 1);
    for limit in [0.0, 10.0, f64::INFINITY] {
        let pairs = query.compute_signed_distance_pairwise_closest_points(limit);
        assert_eq!(pairs.unwrap().len(), 1);
        let own = query.compute_signed_distance_geometry_closest_points(moving, limit);
        assert!(own.unwrap().is_empty());
        let near = query.compute_signed_distance_to_point(&Vector3::zeros(), limit);
        assert_eq!(near.unwrap().len(), 2);
    }
    let down = Ray::new(Vector3::new(0.0, 0.0, 5.0), -Vector3::z());
    let hit = query.cast_rays(&[down], &RayOptions::default()).unwrap()[0];
    assert_eq!(hit.unwrap().id_g, ball);
    let asked = query.compute_signed_distance_pair_closest_points(cone, ball);
    let e = asked.unwrap_err().to_string();
    assert!(
        e.contains("MeshcatCone") && e.contains("visualizers only"),
        "{e}"
    );

    let aabb = query.compute_aabb_in_world(cone).unwrap().unwrap();
    assert_eq!(aabb.upper(), Vector3::new(1.0, 0.5, 2.0));
    assert_eq!(aabb.lower(), Vector3::new(-1.0, -0.5, 0.0));
}

/// A geometry takes part in proximity queries only while its shape is not a cone.
#[test]
fn a_shape_can_become_a_cone_and_change_back() {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let ball = Sphere::new(0.5).unwrap();
    let other = scene.register_anchored_geometry(source, instance(ball, "other"));
    let other = other.unwrap();
    let frame = scene.register_frame(source, GeometryFrame::new("frame"));
    let frame = frame.unwrap();
    let id = scene.register_geometry(source, frame, instance(ball, "ball"));
    let id = id.unwrap();
    let pairs = |scene: &SceneGraph| scene.model_inspector().collision_candidates();
    assert_eq!(pairs(&scene), [(other, id)]);
    let cone = MeshcatCone::new(1.0, 1.0, 1.0).unwrap();
    scene.change_shape(source, id, cone, None).unwrap();
    assert_eq!(pairs(&scene), []);
    scene.change_shape(source, id, ball, None).unwrap();
    assert_eq!(pairs(&scene), [(other, id)]);
}

#[test]
fn meshes_in_memory_can_be_registered() {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let memory = |text: &str| InMemoryMesh::new(MemoryFile::new(text, ".obj", "corner"));
    let scale = Vector3::new(2.0, 1.0, -3.0);
    let convex = Convex::with_scale(memory(OBJ), scale).unwrap();
    let convex = scene.register_anchored_geometry(source, instance(convex, "convex"));
    let mesh = instance(Mesh::new(memory(OBJ)), "mesh");
    scene.register_anchored_geometry(source, mesh).unwrap();
    let line = instance(Mesh::new(memory("v 0 0 0\nv 1 0 0\nf 1 2 1\n")), "line");
    let e = scene
        .register_anchored_geometry(source, line)
        .unwrap_err()
        .to_string();
    assert!(
        e.contains("geometry 'line'")
            && e.contains("corner: vertices must span a plane, got points on a line"),
        "{e}"
    );
    let shape = scene
        .model_inspector()
        .shape(convex.unwrap())
        .unwrap()
        .clone();
    let Shape::Convex(shape) = shape else {
        panic!("the shape must be convex");
    };
    let (center, size) = shape.convex_hull().unwrap().calc_bounding_box();
    assert_eq!((center, size), (scale / 2.0, scale.abs()));
}

/// Meshes that take part as the union of convex pieces.
#[cfg(feature = "convex-decomposition")]
mod pieces {
    use super::*;
    use nalgebra::{Isometry3, Vector3};
    use std::f64::consts::{PI, TAU};
    use std::sync::OnceLock;
    use tarragon_framework::{AutoDiff, DiagramScalar, Scalar, math};
    use tarragon_geometry::proximity::{distance_to_point, signed_distance};
    use tarragon_geometry::*;

    /// Adds a closed surface around the polygons `rings`, whose ends are fans.
    fn tube(obj: &mut String, vertices: &mut usize, rings: &[Vec<Vector3<f64>>]) {
        let n = rings[0].len();
        for p in rings.iter().flatten() {
            *obj += &format!("v {} {} {}\n", p.x, p.y, p.z);
        }
        let first = *vertices + 1;
        for r in 0..rings.len() - 1 {
            for i in 0..n {
                let j = (i + 1) % n;
                let [a, b, c, d] = [r * n + i, r * n + j, (r + 1) * n + j, (r + 1) * n + i];
                *obj += &format!(
                    "f {} {} {} {}\n",
                    first + a,
                    first + b,
                    first + c,
                    first + d
                );
            }
        }
        let ring = |r: usize| (0..n).map(move |i| (first + r * n + i).to_string());
        *obj += &format!("f {}\n", ring(0).rev().collect::<Vec<_>>().join(" "));
        *obj += &format!(
            "f {}\n",
            ring(rings.len() - 1).collect::<Vec<_>>().join(" ")
        );
        *vertices += n * rings.len();
    }

    const RADIUS: f64 = 0.04;
    const WALL: f64 = 0.004;
    const HEIGHT: f64 = 0.1;

    /// A cup of revolution around z that stands on z = 0, with a round handle toward x. All tests
    /// share it, so that it is decomposed once.
    fn mug() -> Mesh {
        static MUG: OnceLock<Mesh> = OnceLock::new();
        MUG.get_or_init(new_mug).clone()
    }

    fn new_mug() -> Mesh {
        let (mut obj, mut vertices) = (String::new(), 0);
        let around = |r: f64, z: f64| -> Vec<_> {
            let angles = (0..40).map(|i| TAU * f64::from(i) / 40.0);
            angles
                .map(|a| Vector3::new(r * a.cos(), r * a.sin(), z))
                .collect()
        };
        let inner = RADIUS - WALL;
        let cup = [
            (RADIUS, 0.0),
            (RADIUS, HEIGHT),
            (inner, HEIGHT),
            (inner, WALL),
        ];
        tube(&mut obj, &mut vertices, &cup.map(|(r, z)| around(r, z)));
        let handle = (0..=12).map(|k| {
            let bend = PI * (f64::from(k) / 12.0 - 0.5);
            let out = Vector3::new(bend.cos(), 0.0, bend.sin());
            let middle = Vector3::new(RADIUS - 0.5 * WALL, 0.0, 0.5 * HEIGHT) + out * 0.025;
            let side = (0..8).map(|i| -TAU * f64::from(i) / 8.0);
            side.map(|a| middle + (out * a.cos() + Vector3::y() * a.sin()) * 0.004)
                .collect()
        });
        tube(&mut obj, &mut vertices, &handle.collect::<Vec<_>>());
        Mesh::new(InMemoryMesh::new(MemoryFile::new(obj, ".obj", "mug")))
    }

    fn decomposed(count: usize) -> ProximityProperties {
        let properties = ProximityProperties::new();
        properties.with_convex_decomposition(count).unwrap()
    }

    struct Kitchen<T: Scalar> {
        query: QueryObject<T>,
        mug: GeometryId,
        other: GeometryId,
    }

    /// A mug at the origin with these properties and another shape with its own.
    fn kitchen<T: DiagramScalar>(
        properties: &ProximityProperties,
        other: impl Into<Shape>,
        x_wo: &Isometry3<T>,
    ) -> Result<Kitchen<T>, Error> {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("kitchen")?;
        let frame = graph.register_frame(source, GeometryFrame::new("other"))?;
        let mug = GeometryInstance::new(Isometry3::identity(), mug(), "mug")?;
        let mug = mug.with_proximity(properties.clone());
        let mug = graph.register_anchored_geometry(source, mug)?;
        let other = GeometryInstance::new(Isometry3::identity(), other, "other")?;
        let other = other.with_proximity(properties.clone());
        let other = graph.register_geometry(source, frame, other)?;
        let mut b = DiagramBuilder::new();
        let block = b.add("scene", graph);
        let diagram = b.build()?.to_scalar::<T>()?;
        let ports = diagram.ports(&block)?;
        let mut ctx = diagram.default_context();
        let poses = FramePoseVector::from_iter([(frame, *x_wo)]);
        ctx.fix(ports.source_pose_port(source)?, poses)?;
        let query = ctx.eval(ports.query)?.clone();
        Ok(Kitchen { query, mug, other })
    }

    fn in_the_mug() -> Isometry3<f64> {
        Isometry3::translation(0.002, -0.001, 0.05)
    }

    #[test]
    fn a_mug_holds_a_ball_without_contact_where_its_hull_would_not() {
        let ball = || Sphere::new(0.02).unwrap();
        let pieces = kitchen(&decomposed(32), ball(), &in_the_mug())
            .unwrap()
            .query;
        assert!(!pieces.has_collisions().unwrap());
        assert!(pieces.compute_point_pair_penetration().unwrap().is_empty());
        let apart = pieces
            .compute_signed_distance_pairwise_closest_points(1.0)
            .unwrap();
        // The wall is 0.036 m from the axis, and pieces bulge inwards by some of that.
        assert!(
            apart[0].distance > 0.008 && apart[0].distance < 0.014,
            "{}",
            apart[0].distance
        );
        let hull = kitchen(&ProximityProperties::new(), ball(), &in_the_mug())
            .unwrap()
            .query;
        assert!(hull.has_collisions().unwrap());
        // A spoon leans on the rim, its end in the mug.
        let spoon = Capsule::new(0.003, 0.12).unwrap();
        let x = math::pose(math::rotation_x(0.3), Vector3::new(0.0, 0.0, 0.075));
        let spoon = kitchen(&decomposed(32), spoon, &x).unwrap().query;
        assert!(!spoon.has_collisions().unwrap());
        // Through the handle, too.
        let finger = Sphere::new(0.006).unwrap();
        let x = Isometry3::translation(RADIUS + 0.009, 0.0, 0.5 * HEIGHT);
        let finger = kitchen(&decomposed(64), finger, &x).unwrap().query;
        assert!(!finger.has_collisions().unwrap());
    }

    #[test]
    fn the_wall_of_a_mug_collides() {
        let ball = Sphere::new(0.01).unwrap();
        let x = Isometry3::translation(0.0, RADIUS + 0.008, 0.06);
        let Kitchen { query, mug, other } = kitchen(&decomposed(32), ball, &x).unwrap();
        let found = query.compute_point_pair_penetration().unwrap();
        assert_eq!(found.len(), 1);
        let found = &found[0];
        assert_eq!((found.id_a, found.id_b), (mug, other));
        assert!((found.depth - 0.002).abs() < 1e-4, "{}", found.depth);
        assert!((found.nhat_ba_w + Vector3::y()).norm() < 0.1);
        let difference = found.p_wcb - found.p_wca - found.nhat_ba_w * found.depth;
        assert!(difference.norm() < 1e-12);
    }

    /// Returns poses around the mug, by Halton's sequence.
    fn poses() -> impl Iterator<Item = Isometry3<f64>> {
        let halton = |mut i: u32, base: u32| {
            let (mut f, mut r) = (1.0, 0.0);
            while i > 0 {
                f /= f64::from(base);
                r += f * f64::from(i % base);
                i /= base;
            }
            2.0 * r - 1.0
        };
        (1..40).map(move |i| {
            let [x, y, z, a, b, c] = [2, 3, 5, 7, 11, 13].map(|base| halton(i, base));
            let turn = math::rotation_exp(&(Vector3::new(a, b, c) * 3.0));
            math::pose(turn, Vector3::new(0.08 * x, 0.08 * y, 0.05 + 0.09 * z))
        })
    }

    fn brute_force(a: &[Convex], b: &[Shape], x_wb: &Isometry3<f64>) -> f64 {
        let mut least = f64::INFINITY;
        for piece in a {
            for part in b {
                let piece = piece.clone().into();
                let found = signed_distance(&piece, &Isometry3::identity(), part, x_wb);
                least = least.min(found.unwrap().distance);
            }
        }
        least
    }

    #[test]
    fn distances_are_the_least_of_all_pieces() {
        let pieces = mug().convex_pieces(24).unwrap();
        let others: Vec<(Shape, Vec<Shape>)> = vec![
            (Sphere::new(0.01).unwrap().into(), vec![]),
            (BoxShape::new(0.01, 0.02, 0.05).unwrap().into(), vec![]),
            (Cylinder::new(0.01, 0.04).unwrap().into(), vec![]),
            (HalfSpace.into(), vec![]),
            (
                mug().into(),
                pieces.iter().map(|p| p.clone().into()).collect(),
            ),
        ];
        for (shape, parts) in others {
            let parts = if parts.is_empty() {
                vec![shape.clone()]
            } else {
                parts
            };
            let mut overlaps = 0;
            for x in poses() {
                let Kitchen { query, mug, other } =
                    kitchen(&decomposed(24), shape.clone(), &x).unwrap();
                let found = query
                    .compute_signed_distance_pair_closest_points(mug, other)
                    .unwrap();
                let least = brute_force(&pieces, &parts, &x);
                assert!(
                    (found.distance - least).abs() < 1e-12,
                    "{} {least}",
                    found.distance
                );
                overlaps += usize::from(least < 0.0);
                assert_eq!(query.has_collisions().unwrap(), least < 0.0);
                let p_wcb = x * nalgebra::Point3::from(found.p_bcb);
                let gap = found.p_aca - p_wcb.coords - found.nhat_ba_w * found.distance;
                assert!(gap.norm() < 1e-12);
            }
            assert!((3..37).contains(&overlaps), "{overlaps} of {shape:?}");
        }
    }

    #[test]
    fn points_and_rays_meet_the_union() {
        let pieces = mug().convex_pieces(24).unwrap();
        let far = Isometry3::translation(9.0, 0.0, 0.0);
        let Kitchen { query, mug, .. } =
            kitchen(&decomposed(24), Sphere::new(0.01).unwrap(), &far).unwrap();
        let depth = |p: &Vector3<f64>| {
            let at = |piece: &Convex| {
                let piece = piece.clone().into();
                distance_to_point(&piece, &Isometry3::identity(), p)
                    .unwrap()
                    .distance
            };
            pieces.iter().map(at).fold(f64::INFINITY, f64::min)
        };
        for x in poses() {
            let p = x.translation.vector;
            let found = query.compute_signed_distance_to_point(&p, 1.0).unwrap();
            assert_eq!(found[0].id_g, mug);
            assert!((found[0].distance - depth(&p)).abs() < 1e-12);
            assert_eq!(
                query
                    .compute_signed_distance_to_point(&p, 0.0)
                    .unwrap()
                    .len(),
                usize::from(depth(&p) <= 0.0)
            );
            let ray = Ray::new(p, x * Vector3::x());
            let hits = query.cast_rays(&[ray], &RayOptions::default()).unwrap();
            let along = |t: f64| depth(&(p + x * Vector3::x() * t));
            let end = hits[0].as_ref().map_or(0.5, |hit| hit.distance);
            if let Some(hit) = hits[0] {
                assert!(along(end).abs() < 1e-9, "{}", along(end));
                assert!(
                    hit.nhat_w.dot(&(x * Vector3::x()))
                        * (if depth(&p) > 0.0 { -1.0 } else { 1.0 })
                        >= 0.0
                );
            }
            // Nothing is crossed before, neither from outside nor from inside.
            for k in 1..200 {
                let inside = along(end * f64::from(k) / 200.0) < -1e-9;
                let outside = along(end * f64::from(k) / 200.0) > 1e-9;
                assert!(if depth(&p) > 0.0 { !inside } else { !outside });
            }
        }
        // Down the axis of the mug, a ray hits the bottom.
        let down = Ray::new(Vector3::z(), -Vector3::z());
        let hit = query.cast_rays(&[down], &RayOptions::default()).unwrap()[0].unwrap();
        assert!((hit.p_wc.z - WALL).abs() < 1e-3, "{}", hit.p_wc.z);
    }

    #[test]
    fn distances_have_derivatives() {
        let shape = BoxShape::new(0.01, 0.02, 0.05).unwrap();
        for x in poses().take(20) {
            let distance = |y: &[AutoDiff]| {
                let x = x.cast::<AutoDiff>();
                let moved = x.translation.vector + Vector3::new(y[0], y[1], y[2]);
                let turned = math::rotation_exp(&Vector3::new(y[3], y[4], y[5])) * x.rotation;
                let x = Isometry3::from_parts(moved.into(), turned);
                let Kitchen { query, mug, other } = kitchen(&decomposed(24), shape, &x).unwrap();
                let found = query.compute_signed_distance_pair_closest_points(mug, other);
                vec![found.unwrap().distance]
            };
            let (_, gradient) = tarragon_framework::autodiff::jacobian(distance, &[0.0; 6]);
            for i in 0..6 {
                let h = 1e-7;
                let value = |step: f64| {
                    let mut y = [AutoDiff::from(0.0); 6];
                    y[i] += step;
                    distance(&y)[0].re
                };
                let difference = (value(h) - value(-h)) / (2.0 * h);
                let error = (gradient[(0, i)] - difference).abs();
                assert!(error < 1e-5, "{} {difference}", gradient[(0, i)]);
            }
        }
    }

    #[test]
    fn pieces_follow_the_properties_and_the_shape() {
        let ball = Sphere::new(0.02).unwrap();
        let Kitchen {
            query,
            mug: id,
            other,
        } = kitchen(&decomposed(32), ball, &in_the_mug()).unwrap();
        let pieces = query.inspector().convex_pieces(id).unwrap().unwrap();
        assert!((8..=32).contains(&pieces.len()), "{}", pieces.len());
        let name = pieces[0].source().description();
        assert_eq!(name, format!("convex piece 1 of {} of mug", pieces.len()));
        assert_eq!(query.inspector().convex_pieces(other).unwrap(), None);
        let mut graph = SceneGraph::new();
        let source = graph.register_source("kitchen").unwrap();
        let mug = GeometryInstance::new(Isometry3::identity(), mug(), "mug").unwrap();
        let mug = mug.with_proximity(decomposed(4));
        let id = graph.register_anchored_geometry(source, mug).unwrap();
        let count = |graph: &SceneGraph| {
            let pieces = graph.model_inspector().convex_pieces(id).unwrap();
            pieces.map(<[Convex]>::len)
        };
        assert_eq!(count(&graph), Some(4));
        let replace = RoleAssign::Replace;
        graph
            .assign_role_with(source, id, ProximityProperties::new(), replace)
            .unwrap();
        assert_eq!(count(&graph), None);
        graph
            .assign_role_with(source, id, decomposed(2), replace)
            .unwrap();
        assert_eq!(count(&graph), Some(2));
        graph
            .change_shape(source, id, Sphere::new(1.0).unwrap(), None)
            .unwrap();
        assert_eq!(count(&graph), None);
    }

    #[test]
    fn wrong_properties_are_refused_by_name() {
        let refused = |properties: &ProximityProperties| {
            let ball = Sphere::new(0.02).unwrap();
            let error = kitchen::<f64>(properties, ball, &in_the_mug())
                .err()
                .unwrap();
            error.to_string()
        };
        let mut properties = ProximityProperties::new();
        let error = properties.set_max_pieces(0).unwrap_err().to_string();
        let range = "property ('convex_decomposition', 'max_pieces') must be from 1 to 256, got";
        assert_eq!(error, format!("{range} 0"));
        properties.set_untyped("convex_decomposition", "max_pieces", 1000_usize);
        let place = "geometry 'mug' on frame 'world': ";
        assert_eq!(refused(&properties), format!("{place}{range} 1000"));
        properties.set_untyped("convex_decomposition", "max_pieces", 2.0);
        assert!(refused(&properties).starts_with(place) && refused(&properties).contains("usize"));
        let both = decomposed(8).with_true_surface();
        assert_eq!(
            refused(&both),
            format!(
                "{place}a mesh must have at most one of the properties ('mesh', 'true_surface') and \
                 ('convex_decomposition', 'max_pieces'), got both"
            )
        );
    }
}

#[cfg(not(feature = "convex-decomposition"))]
#[test]
fn without_its_feature_a_decomposition_is_refused() {
    let source = InMemoryMesh::new(MemoryFile::new(OBJ, ".obj", "corner"));
    let error = Mesh::new(source).convex_pieces(8).unwrap_err();
    assert_eq!(error.kind(), tarragon_geometry::ErrorKind::Unsupported);
    assert!(
        error
            .to_string()
            .contains("cargo feature 'convex-decomposition'"),
        "{error}"
    );
}
