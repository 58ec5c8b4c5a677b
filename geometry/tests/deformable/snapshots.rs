//! Bounds, driven meshes, points, rays and images in a configuration.

use super::{Scene, ball, instance, near_identity, points};
use nalgebra::{DVector, Vector3};
use proptest::prelude::*;
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_geometry::mesh::RenderMesh;
use tarragon_geometry::render::{
    CameraInfo, ColorRenderCamera, DepthRenderCamera, ImageDepth32F, ImageLabel16I, ImageRgba8U,
    RenderEngine, RenderEngineCpu, RenderEngineCpuParams, RenderView,
};
use tarragon_geometry::{
    EmbeddedPoints, ErrorKind, GeometryConfigurationVector, GeometryId, GeometryInstance,
    PerceptionProperties, ProximityProperties, Ray, RayOptions, RenderLabel, Result, Role, Shape,
    Sphere,
};

/// Directory for a file of a test.
fn file(name: &str, text: &str) -> String {
    let path = std::env::temp_dir().join(format!("tarragon-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn embedded_points_follow_affine_maps(
        numbers in any::<[i8; 9]>(),
        shift in [-1.0..1.0_f64, -1.0..1.0, -1.0..1.0],
        inside in prop::collection::vec([-0.05..0.05_f64, -0.05..0.05, -0.05..0.05], 1..20),
    ) {
        let map = near_identity(numbers.map(|x| f64::from(x) / 128.0));
        let shift = Vector3::from(shift);
        let mut scene = Scene::new();
        let id = scene.deformable(ball("soft"), 0.06);
        let inside: Vec<Vector3<f64>> = inside.into_iter().map(Vector3::from).collect();
        let embedded = EmbeddedPoints::new(scene.reference(id), &inside).unwrap();
        scene.move_vertices(id, |p| map * p + shift);
        let configuration = scene.configurations.value(id).unwrap();
        let moved = embedded.positions(configuration.as_slice()).unwrap();
        for (p, moved) in inside.iter().zip(moved) {
            prop_assert!((map * p + shift - moved).norm() < 1e-13);
        }
    }

    #[test]
    fn bounds_contain_all_vertices(numbers in any::<[i8; 9]>(), wave in -0.1..0.1_f64) {
        let map = near_identity(numbers.map(|x| f64::from(x) / 128.0));
        let mut scene = Scene::new();
        let id = scene.deformable(ball("soft"), 0.1);
        scene.move_vertices(id, |p| map * p + Vector3::repeat(wave * (30.0 * p.x).sin()));
        let query = scene.query();
        let aabb = query.compute_aabb_in_world(id).unwrap().unwrap();
        let obb = query.compute_obb_in_world(id).unwrap().unwrap();
        prop_assert!(obb.half_width().iter().all(|x| x.is_finite()));
        for p in points(query.configurations_in_world(id).unwrap()) {
            prop_assert!((p - aabb.center()).abs() <= aabb.half_width().add_scalar(1e-15));
            let in_box = obb.pose().inverse() * nalgebra::Point3::from(p);
            prop_assert!(in_box.coords.abs() <= obb.half_width().add_scalar(1e-12));
        }
    }

    /// A ball that is moved rigidly has the distances and hits of the same ball there.
    #[test]
    fn points_and_rays_see_the_current_surface(
        shift in [-1.0..1.0_f64, -1.0..1.0, -1.0..1.0],
        offset in [-0.3..0.3_f64, -0.3..0.3, -0.3..0.3],
        factor in 0.5..2.0_f64,
    ) {
        let (shift, offset) = (Vector3::from(shift), Vector3::from(offset));
        let mut scene = Scene::new();
        let soft = scene.deformable(ball("soft"), 0.03);
        scene.move_vertices(soft, |p| factor * p + shift);
        let query = scene.query();
        let p = shift + offset;
        let found = query.compute_signed_distance_to_point(&p, f64::INFINITY).unwrap();
        prop_assert_eq!(found.len(), 1);
        let expected = offset.norm() - factor * 0.1;
        // Triangles of edge 0.03 are 0.001 within a sphere of radius 0.1.
        prop_assert!((found[0].distance - expected).abs() < 2e-3 * factor);
        let on_surface = found[0].p_gn + found[0].grad_w * found[0].distance;
        prop_assert!((on_surface - p).norm() < 1e-12);
        let near = query.compute_signed_distance_to_point(&p, 0.01).unwrap();
        prop_assert_eq!(near.len(), usize::from(found[0].distance <= 0.01));
        let direction = -offset.normalize();
        let start = shift - direction * 3.0;
        let hits = query.cast_rays(&[Ray::new(start, direction)], &RayOptions::default()).unwrap();
        let hit = hits[0].expect("the ball is in the way");
        prop_assert!((hit.distance - 3.0 + factor * 0.1).abs() < 2e-3 * factor);
        prop_assert!(hit.nhat_w.dot(&direction) < -0.9);
    }
}

#[test]
fn driven_boundaries_list_their_vertices_in_order() {
    let mut scene = Scene::new();
    let id = scene.deformable(ball("soft"), 0.06);
    let query = scene.query();
    let driven = query
        .driven_mesh_configurations_in_world(id, Role::Proximity)
        .unwrap();
    let meshes = query
        .inspector()
        .driven_render_meshes(id, Role::Proximity)
        .unwrap();
    let found = points(&driven[0]);
    let reference = scene.reference(id).vertices();
    let boundary = reference.iter().filter(|p| p.norm() > 0.0999);
    assert_eq!(found, boundary.copied().collect::<Vec<_>>());
    assert_eq!((driven.len(), meshes[0].triangles.len()), (1, 128));
    meshes[0].check().unwrap();
    let outward = meshes[0].positions.iter().zip(&meshes[0].normals);
    assert!(
        outward
            .into_iter()
            .all(|(p, n)| p.coords.normalize().dot(n) > 0.95)
    );
}

#[test]
fn embedded_surfaces_follow_and_must_be_inside() {
    let small = file("in.obj", "v 0 0 0\nv .05 0 0\nv 0 .05 0\nf 1 2 3\n");
    let large = file("out.obj", "v 0 0 0\nv 5 0 0\nv 0 .05 0\nf 1 2 3\n");
    let skin = |path: &String| {
        let mut properties = PerceptionProperties::new();
        properties.set_untyped("deformable", "embedded_mesh", path.clone());
        ball("soft").with_perception(properties)
    };
    let named = |mut instance: GeometryInstance, name| {
        instance.set_name(name).unwrap();
        instance
    };
    let mut scene = Scene::new();
    let id = scene.deformable(skin(&small), 0.1);
    scene.move_vertices(id, |p| p * 2.0);
    let query = scene.query();
    let driven = query
        .driven_mesh_configurations_in_world(id, Role::Perception)
        .unwrap();
    assert_eq!(driven.len(), 1);
    let expected = [0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.1, 0.0];
    assert!((&driven[0] - DVector::from_row_slice(&expected)).amax() < 1e-15);
    let proximity = query
        .driven_mesh_configurations_in_world(id, Role::Proximity)
        .unwrap();
    assert_eq!(proximity[0].len(), 54);
    let options = RayOptions {
        role: Role::Perception,
        ..RayOptions::default()
    };
    let down = Ray::new(Vector3::new(0.02, 0.02, 1.0), -Vector3::z());
    let hit = query.cast_rays(&[down], &options).unwrap()[0].unwrap();
    assert!((hit.distance - 1.0).abs() < 1e-12);
    let world = scene.graph.world_frame_id();
    let error = (scene.graph)
        .register_deformable_geometry(scene.source, world, named(skin(&large), "out"), 0.1)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("point 1 must be inside the undeformed mesh"),
        "{error}"
    );
    assert!(error.contains("out.obj"), "{error}");
    for path in [small, large] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn derivatives_of_configurations_are_refused_and_those_of_points_are_exact() {
    let mut scene = Scene::new();
    let id = scene.deformable(ball("soft"), 0.1);
    let mut b = DiagramBuilder::new();
    let scene_graph = b.add("scene_graph", scene.graph.clone());
    let diagram = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let ports = diagram.ports(&scene_graph).unwrap();
    let mut ctx = diagram.default_context();
    let mut configuration = scene.configurations.value(id).unwrap().map(AutoDiff::from);
    let port = ports.source_configuration_port(scene.source).unwrap();
    let of = |x: &DVector<AutoDiff>| GeometryConfigurationVector::from_iter([(id, x.clone())]);
    ctx.fix(port, of(&configuration)).unwrap();
    let p = Vector3::new(0.2, 0.1, 0.3);
    let p = Vector3::from_fn(|i, _| AutoDiff::variable(p[i], i));
    let query = ctx.eval(ports.query).unwrap();
    let found = query.compute_signed_distance_to_point(&p, 1.0).unwrap();
    for i in 0..3 {
        assert!((found[0].distance.eps[i] - found[0].grad_w[i].re).abs() < 1e-12);
    }
    configuration[0] = AutoDiff::variable(configuration[0].re, 0);
    ctx.fix(port, of(&configuration)).unwrap();
    let query = ctx.eval(ports.query).unwrap();
    let error = query.compute_signed_distance_to_point(&p, 1.0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn rigid_queries_skip_deformable_geometry() {
    let mut scene = Scene::new();
    scene.block(1.0, [0.0, 0.0, -0.55], "floor");
    let soft = scene.deformable(ball("soft"), 0.1);
    let query = scene.query();
    assert!(query.compute_point_pair_penetration().unwrap().is_empty());
    assert!(!query.has_collisions().unwrap());
    let distances = query.compute_signed_distance_pairwise_closest_points(f64::INFINITY);
    assert!(distances.unwrap().is_empty());
    let of_soft = query.compute_signed_distance_geometry_closest_points(soft, 1.0);
    assert!(of_soft.unwrap().is_empty());
    assert!(query.find_collision_candidates().is_empty());
}

fn engine() -> RenderEngineCpu {
    RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap()
}

#[test]
fn images_show_the_current_configuration_of_each_context() {
    let mut scene = Scene::new();
    scene.graph.add_renderer("cpu", engine()).unwrap();
    let shown = instance(Sphere::new(0.1).unwrap(), "soft");
    let id = scene.deformable(shown.with_perception(PerceptionProperties::new()), 0.02);
    let camera = DepthRenderCamera::new("cpu", CameraInfo::from_fov_y(65, 49, 0.5).unwrap());
    let world = scene.graph.world_frame_id();
    // From above, looking down.
    let x_wc = math::pose(
        math::rpy(std::f64::consts::PI, 0.0, 0.0),
        Vector3::z() * 2.0,
    );
    let mut depth_with = |factor: f64| {
        scene.move_vertices(id, |p| p * factor);
        let query = scene.query();
        let mut image = ImageDepth32F::new(65, 49);
        query
            .render_depth_image(&camera, world, &x_wc, &mut image)
            .unwrap();
        image.at(32, 24)[0]
    };
    for factor in [1.0, 3.0, 0.5] {
        let expected = 2.0 - 0.1 * factor;
        let found = f64::from(depth_with(factor));
        assert!((found - expected).abs() < 5e-3, "{factor}: {found}");
    }
}

/// An engine that draws nothing, and no deformable geometry.
#[derive(Clone)]
pub(crate) struct Plain;

impl RenderEngine for Plain {
    fn register_visual(
        &mut self,
        _: GeometryId,
        _: &Shape,
        _: &PerceptionProperties,
    ) -> Result<bool> {
        Ok(true)
    }
    fn remove_visual(&mut self, _: GeometryId) -> bool {
        false
    }
    fn has_visual(&self, _: GeometryId) -> bool {
        false
    }
    fn render_color(
        &self,
        _: &RenderView<'_>,
        _: &ColorRenderCamera,
        _: &mut ImageRgba8U,
    ) -> Result<()> {
        Ok(())
    }
    fn render_depth(
        &self,
        _: &RenderView<'_>,
        _: &DepthRenderCamera,
        _: &mut ImageDepth32F,
    ) -> Result<()> {
        Ok(())
    }
    fn render_label(
        &self,
        _: &RenderView<'_>,
        _: &ColorRenderCamera,
        _: &mut ImageLabel16I,
    ) -> Result<()> {
        Ok(())
    }
    fn default_render_label(&self) -> RenderLabel {
        RenderLabel::DONT_CARE
    }
}

#[test]
fn other_engines_say_that_deformable_geometry_is_unsupported() {
    let mut scene = Scene::new();
    scene.graph.add_renderer("plain", Plain).unwrap();
    let shown = || ball("soft").with_perception(PerceptionProperties::new());
    let world = scene.graph.world_frame_id();
    let refused = (scene.graph).register_deformable_geometry(scene.source, world, shown(), 0.1);
    let error = refused.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("'accepting'"), "{error}");
    let others = ["cpu".to_owned()].into_iter().collect();
    let mut only_cpu = PerceptionProperties::new();
    only_cpu.set_untyped::<std::collections::BTreeSet<String>>("renderer", "accepting", others);
    let soft = ball("soft").with_perception(only_cpu);
    scene.deformable(soft, 0.1);
    scene.query();
}

#[test]
fn several_meshes_of_a_visual_are_drawn_as_one() {
    let mut scene = Scene::new();
    let id = scene.deformable(ball("soft").with_proximity(ProximityProperties::new()), 0.1);
    let meshes = scene
        .graph
        .model_inspector()
        .driven_render_meshes(id, Role::Proximity);
    let mesh: &RenderMesh = &meshes.unwrap()[0];
    let (mut engine, visual) = (engine(), GeometryId::new());
    let properties = PerceptionProperties::new();
    assert!(
        engine
            .register_deformable_visual(visual, &[mesh, mesh], &properties)
            .unwrap()
    );
    let error = engine
        .update_deformable_configurations(visual, &[])
        .unwrap_err();
    assert!(
        error.to_string().contains("[[18, 18], [18, 18]], got []"),
        "{error}"
    );
    let other = GeometryId::new();
    assert!(!engine.update_deformable_configurations(other, &[]).unwrap());
}
