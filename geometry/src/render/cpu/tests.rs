use super::*;
use crate::mesh;
use crate::render::{
    CameraInfo, ClippingRange, DepthRange, LightFrame, LightParameter, LightType, PixelType,
};
use crate::shapes::{BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh, Sphere};
use nalgebra::{Isometry3, Point3, Vector3};
use std::path::PathBuf;
use tarragon_framework::math;

/// Numbers that are the same in every run (Steele, Lea & Flood, "Fast splittable pseudorandom number
/// generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        low + (high - low) * (z >> 11) as f64 / (1u64 << 53) as f64
    }
    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.next(-size, size))
    }
    fn pose(&mut self, p: Vector3<f64>) -> Isometry3<f64> {
        math::pose(math::rotation_exp(&self.vector(2.0)), p)
    }
    fn shape(&mut self, kind: usize) -> Shape {
        let mut l = || self.next(0.05, 0.5);
        match kind {
            0 => Sphere::new(l()).unwrap().into(),
            1 => BoxShape::new(l(), l(), l()).unwrap().into(),
            2 => Cylinder::new(l(), l()).unwrap().into(),
            3 => Capsule::new(l(), l()).unwrap().into(),
            4 => Ellipsoid::new(l(), l(), l()).unwrap().into(),
            _ => HalfSpace.into(),
        }
    }
}

/// How far outside a shape a point is, zero on its surface; not a distance, but smooth through it.
fn outside(shape: &Shape, x: &Vector3<f64>) -> f64 {
    let rho = x.x.hypot(x.y);
    match shape {
        Shape::Sphere(s) => x.norm() - s.radius(),
        Shape::Box(s) => (x.abs() - s.half_size()).max(),
        Shape::Cylinder(s) => (rho - s.radius()).max(x.z.abs() - s.length() / 2.0),
        Shape::Capsule(s) => {
            let h = s.length() / 2.0;
            (x - Vector3::z() * x.z.clamp(-h, h)).norm() - s.radius()
        }
        Shape::Ellipsoid(s) => (x.component_div(&s.semi_axes()).norm() - 1.0) * s.semi_axes().min(),
        _ => x.z,
    }
}

struct Fixture {
    engine: RenderEngineCpu,
    poses: BTreeMap<GeometryId, Isometry3<f64>>,
    core: RenderCameraCore,
    range: DepthRange,
    x_wc: Isometry3<f64>,
}

impl Fixture {
    fn new(width: usize, height: usize, near: f64, far: f64) -> Self {
        let info = CameraInfo::new(
            width,
            height,
            width as f64,
            width as f64 * 1.1,
            width as f64 * 0.45,
            height as f64 * 0.55,
        )
        .unwrap();
        Self {
            engine: RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap(),
            poses: BTreeMap::new(),
            core: RenderCameraCore::new(
                "cpu",
                info,
                ClippingRange::new(near, far).unwrap(),
                Isometry3::identity(),
            ),
            range: DepthRange::new(near, far).unwrap(),
            x_wc: Isometry3::identity(),
        }
    }
    fn add(&mut self, shape: impl Into<Shape>, x_wg: Isometry3<f64>, label: i16) -> GeometryId {
        let diffuse = Rgba::new(1.0, 0.5, 0.25, 1.0).unwrap();
        let label = RenderLabel::new(label).unwrap();
        let properties = PerceptionProperties::with_color_and_label(diffuse, label);
        let id = GeometryId::new();
        assert!(
            self.engine
                .register_visual(id, &shape.into(), &properties)
                .unwrap()
        );
        self.poses.insert(id, x_wg);
        id
    }
    fn draw<P: PixelType>(
        &self,
        draw: impl FnOnce(&RenderView<'_>, &mut Image<P>) -> Result<()>,
    ) -> Image<P> {
        let poses = |id| self.poses.get(&id).copied();
        let info = self.core.intrinsics();
        let mut image = Image::new(info.width(), info.height());
        draw(&RenderView::new(self.x_wc, &poses), &mut image).unwrap();
        image
    }
    fn depth(&self) -> ImageDepth32F {
        let camera = DepthRenderCamera::new(self.core.clone(), self.range).unwrap();
        self.draw(|view, image| self.engine.render_depth(view, &camera, image))
    }
    fn label(&self) -> ImageLabel16I {
        let camera = ColorRenderCamera::new(self.core.clone());
        self.draw(|view, image| self.engine.render_label(view, &camera, image))
    }
    fn color(&self) -> ImageRgba8U {
        let camera = ColorRenderCamera::new(self.core.clone());
        self.draw(|view, image| self.engine.render_color(view, &camera, image))
    }
    /// The ray of a pixel in the camera frame.
    fn ray(&self, u: usize, v: usize) -> Vector3<f64> {
        let k = self.core.intrinsics();
        Vector3::new(
            (u as f64 + 0.5 - k.center_x()) / k.focal_x(),
            (v as f64 + 0.5 - k.center_y()) / k.focal_y(),
            1.0,
        )
    }
    fn pixels(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (w, h) = (
            self.core.intrinsics().width(),
            self.core.intrinsics().height(),
        );
        (0..h).flat_map(move |v| (0..w).map(move |u| (u, v)))
    }
}

/// Where `f` crosses zero near `z`, by bisection; `None` if it does not cross within a thousandth.
fn crossing(f: impl Fn(f64) -> f64, z: f64) -> Option<f64> {
    let (mut low, mut high) = (z * 0.999, z * 1.001);
    let rising = f(high) > 0.0;
    if (f(low) > 0.0) == rising {
        return None;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if (f(middle) > 0.0) == rising {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(low)
}

/// Checks every pixel of a depth image of one shape and returns how many showed it.
fn check_depths(s: &Fixture, shape: &Shape, x_wg: &Isometry3<f64>) -> usize {
    let image = s.depth();
    let x_gc = x_wg.inverse() * s.x_wc;
    let (near, far) = (s.core.clipping().near(), s.core.clipping().far());
    let mut seen = 0;
    for (u, v) in s.pixels() {
        let d = s.ray(u, v);
        let f = |z: f64| outside(shape, &(x_gc * Point3::from(d * z)).coords);
        let start_inside = f(near) < 0.0;
        let z = f64::from(image.at(u, v)[0]);
        let last = if z.is_finite() { z * 0.999 } else { far };
        // Nothing is skipped on the way: the sign does not change before the surface. Only chords
        // shorter than a sample can be missed here, at silhouettes.
        for k in 1..200 {
            let at = near + (last - near) * f64::from(k) / 200.0;
            let changed = (f(at) < 0.0) != start_inside && f(at).abs() > 1e-6;
            assert!(
                !changed,
                "{shape:?} at ({u}, {v}): depth {z} is behind {at}"
            );
        }
        if z.is_finite() {
            seen += 1;
            if let Some(exact) = crossing(f, z) {
                let error = (z / exact - 1.0).abs();
                assert!(error < 1e-6, "{shape:?} at ({u}, {v}): {z}, not {exact}");
            } else {
                // A silhouette, where the ray only touches.
                let most = f(z).abs();
                assert!(most < 2e-3, "{shape:?} at ({u}, {v}): {z} is off by {most}");
            }
        }
    }
    seen
}

#[test]
fn depths_of_shapes_are_exact() {
    let mut random = Random(1);
    for kind in 0..6 {
        let mut seen = 0;
        for _ in 0..25 {
            let mut s = Fixture::new(97, 61, 0.1, 20.0);
            let shape = random.shape(kind);
            let p = Vector3::new(
                random.next(-0.5, 0.5),
                random.next(-0.3, 0.3),
                random.next(0.8, 4.0),
            );
            let x_wg = random.pose(p);
            s.x_wc = random.pose(Vector3::zeros());
            let x_wg = s.x_wc * x_wg;
            s.add(shape.clone(), x_wg, 1);
            seen += check_depths(&s, &shape, &x_wg);
        }
        assert!(seen > 3000, "kind {kind}: only {seen} pixels were compared");
    }
}

#[test]
fn shapes_around_or_across_the_camera_show_their_inside() {
    let mut random = Random(2);
    for kind in 0..5 {
        let mut seen = 0;
        for _ in 0..30 {
            let mut s = Fixture::new(33, 23, 0.05, 20.0);
            let shape = random.shape(kind);
            let p = random.vector(0.25) + Vector3::z() * 0.1;
            let x_wg = random.pose(p);
            s.add(shape.clone(), x_wg, 1);
            seen += check_depths(&s, &shape, &x_wg);
        }
        assert!(seen > 2000, "kind {kind}: only {seen} pixels were compared");
    }
}

/// A mesh in a temporary file of its own.
fn obj(name: &str, text: &str) -> PathBuf {
    // Ids differ among the tests of a process.
    let unique = format!("{}-{}", std::process::id(), GeometryId::new());
    let path = std::env::temp_dir().join(format!("tarragon-{name}-{unique}.obj"));
    std::fs::write(&path, text).unwrap();
    path
}

/// A lumpy sphere of `2 n^2` triangles.
fn lumpy(n: usize) -> String {
    let mut text = String::new();
    for i in 0..=n {
        for j in 0..n {
            let a = std::f64::consts::PI * i as f64 / n as f64;
            let b = std::f64::consts::TAU * j as f64 / n as f64;
            let r = 0.4 + 0.1 * (5.0 * b).sin() * a.sin() + 0.05 * (7.0 * a).cos();
            let (x, y, z) = (a.sin() * b.cos(), a.sin() * b.sin(), a.cos());
            text += &format!("v {} {} {}\n", r * x, r * y, r * z);
        }
    }
    for i in 0..n {
        for j in 0..n {
            let k = |i: usize, j: usize| i * n + j % n + 1;
            let (a, b, c, d) = (k(i, j), k(i, j + 1), k(i + 1, j), k(i + 1, j + 1));
            text += &format!("f {a} {c} {b}\nf {b} {c} {d}\n");
        }
    }
    text
}

/// The nearest hit of a ray by trying all triangles (Möller & Trumbore, 1997), as depth and the
/// distance from the nearest edge in barycentric terms.
fn cast(
    m: &mesh::RenderMesh,
    x_cg: &Isometry3<f64>,
    d: &Vector3<f64>,
    near: f64,
) -> Option<(f64, f64)> {
    let mut best: Option<(f64, f64)> = None;
    for t in &m.triangles {
        let [a, b, c] = t.map(|v| (x_cg * m.positions[v as usize]).coords);
        let (e1, e2) = (b - a, c - a);
        let n = d.cross(&e2);
        let det = e1.dot(&n);
        if det == 0.0 {
            continue;
        }
        let u = -a.dot(&n) / det;
        let q = (-a).cross(&e1);
        let v = d.dot(&q) / det;
        let z = e2.dot(&q) / det;
        let inner = u.min(v).min(1.0 - u - v);
        if inner >= 0.0 && z >= near && best.is_none_or(|b| z < b.0) {
            best = Some((z, inner));
        }
    }
    best
}

#[test]
fn meshes_match_ray_casts() {
    let path = obj("lumpy", &lumpy(40));
    let m = mesh::read(&path).unwrap();
    let mut random = Random(3);
    for distance in [2.0, 1.2, 0.55, 0.3, 0.0] {
        let mut s = Fixture::new(90, 70, 0.1, 20.0);
        let x_wg = random.pose(Vector3::new(0.02, 0.03, distance));
        s.add(Mesh::new(&path), x_wg, 1);
        let image = s.depth();
        let (mut same, mut different, mut worst) = (0, 0, 0.0_f64);
        for (u, v) in s.pixels() {
            let z = f64::from(image.at(u, v)[0]);
            match cast(&m, &x_wg, &s.ray(u, v), 0.1) {
                Some((exact, _)) if z.is_finite() && (z / exact - 1.0).abs() < 1e-2 => {
                    same += 1;
                    worst = worst.max((z / exact - 1.0).abs());
                }
                None if z.is_infinite() => same += 1,
                _ => different += 1,
            }
        }
        // Corners move by up to 1/512 pixel, which can only matter at silhouettes, and on steep
        // faces shifts the clamped depth.
        assert!(
            different <= 3,
            "at {distance} m {different} of {same} pixels differ"
        );
        assert!(
            worst < 1e-4,
            "at {distance} m the worst depth is off by {worst}"
        );
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn neighbouring_triangles_leave_no_gap_and_do_not_overlap() {
    // A jittered grid over the whole image, every triangle a geometry of its own.
    let mut random = Random(4);
    let n = 8;
    let jitter = |i: usize| if i % n == 0 { 0.0 } else { 0.3 };
    let points: Vec<Vector3<f64>> = (0..=n)
        .flat_map(|j| (0..=n).map(move |i| (i, j)))
        .map(|(i, j)| {
            let x = i as f64 + jitter(i) * random.next(-1.0, 1.0);
            let y = j as f64 + jitter(j) * random.next(-1.0, 1.0);
            Vector3::new((x / n as f64 - 0.5) * 3.0, (y / n as f64 - 0.5) * 3.0, 2.0)
        })
        .collect();
    let mut s = Fixture::new(64, 48, 0.1, 20.0);
    let mut covered = vec![0; 64 * 48];
    for j in 0..n {
        for i in 0..n {
            let k = j * (n + 1) + i;
            for t in [[k, k + 1, k + n + 1], [k + n + 1, k + 1, k + n + 2]] {
                let text: String = t
                    .map(|k| format!("v {} {} {}\n", points[k].x, points[k].y, points[k].z))
                    .concat();
                let path = obj("cell", &(text + "f 1 2 3\n"));
                let id = s.add(Mesh::new(&path), Isometry3::identity(), 1);
                for (count, label) in covered.iter_mut().zip(s.label().data()) {
                    *count += usize::from(*label == 1);
                }
                s.engine.remove_visual(id);
                std::fs::remove_file(path).unwrap();
            }
        }
    }
    assert!(covered.iter().all(|n| *n == 1), "{covered:?}");
}

fn busy() -> Fixture {
    let mut random = Random(5);
    let path = obj("busy", &lumpy(20));
    let mut s = Fixture::new(211, 157, 0.1, 20.0);
    for k in 0..60 {
        let shape = if k % 7 == 6 {
            Mesh::new(&path).into()
        } else {
            random.shape(k % 7)
        };
        let p = Vector3::new(
            random.next(-1.5, 1.5),
            random.next(-1.0, 1.0),
            random.next(0.3, 5.0),
        );
        let x_wg = random.pose(p);
        s.add(shape, x_wg, k as i16);
    }
    std::fs::remove_file(path).unwrap();
    s
}

#[test]
fn any_number_of_threads_draws_the_same_bits() {
    let mut s = busy();
    let all = |s: &Fixture| {
        let depth: Vec<u32> = s.depth().data().iter().map(|z| z.to_bits()).collect();
        (s.color(), s.label(), depth)
    };
    let reference = all(&s);
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        s.engine.pool = Some(pool.build().unwrap());
        assert!(all(&s) == reference, "{threads} threads");
    }
}

#[test]
fn images_of_one_scene_agree() {
    let s = busy();
    let (color, label, depth) = (s.color(), s.label(), s.depth());
    let clear = [204, 229, 255, 255];
    for (u, v) in s.pixels() {
        let empty = label.at(u, v)[0] == RenderLabel::EMPTY.value();
        assert_eq!(empty, depth.at(u, v)[0].is_infinite());
        assert_eq!(empty, color.at(u, v) == clear);
    }
}

#[test]
fn at_equal_depth_the_first_registered_is_seen() {
    let cube = BoxShape::new(0.5, 0.5, 0.5).unwrap();
    let mut s = Fixture::new(40, 30, 0.1, 20.0);
    let x_wg = Random(6).pose(Vector3::new(0.0, 0.0, 2.0));
    let first = s.add(cube, x_wg, 1);
    s.add(cube, x_wg, 2);
    s.add(cube, x_wg, 3);
    let count = |s: &Fixture, label: i16| s.label().data().iter().filter(|l| **l == label).count();
    assert_eq!((count(&s, 2), count(&s, 3)), (0, 0));
    let n = count(&s, 1);
    s.engine.remove_visual(first);
    assert_eq!((count(&s, 1), count(&s, 2)), (0, n));
}

#[test]
fn depth_range_and_clipping_range() {
    let mut s = Fixture::new(8, 8, 1.0, 10.0);
    s.range = DepthRange::new(2.0, 5.0).unwrap();
    let ball = s.add(Sphere::new(0.1).unwrap(), Isometry3::identity(), 1);
    let mut center = |z: f64| {
        s.poses.insert(ball, Isometry3::translation(0.0, 0.0, z));
        s.depth().at(3, 4)[0]
    };
    let too_far = f32::INFINITY;
    assert_eq!(center(0.5), too_far); // before the near plane: not there
    assert_eq!(center(1.05), 0.0); // its back is seen, too close
    assert!((center(3.0) - 2.9).abs() < 0.02);
    assert_eq!(center(6.0), too_far);
    assert_eq!(center(12.0), too_far);
}

#[test]
fn labels_follow_the_rules() {
    let mut engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    let ball: Shape = Sphere::new(0.1).unwrap().into();
    let mut p = PerceptionProperties::new();
    assert_eq!(engine.render_label_of(&p).unwrap(), RenderLabel::DONT_CARE);
    for label in [RenderLabel::UNSPECIFIED, RenderLabel::EMPTY] {
        p.set("label", "id", label);
        let e = engine.register_visual(GeometryId::new(), &ball, &p);
        assert!(e.unwrap_err().to_string().contains("('label', 'id')"));
    }
    p.set("label", "id", 7_i32);
    assert!(
        engine
            .register_visual(GeometryId::new(), &ball, &p)
            .is_err()
    );

    let mut s = Fixture::new(8, 8, 0.1, 10.0);
    let x_wg = Isometry3::translation(0.0, 0.0, 2.0);
    s.add(Sphere::new(1.0).unwrap(), x_wg, 5);
    let mut glass = PerceptionProperties::new();
    glass.set("label", "id", RenderLabel::DO_NOT_RENDER);
    let id = GeometryId::new();
    s.engine
        .register_visual(id, &Sphere::new(1.2).unwrap().into(), &glass)
        .unwrap();
    s.poses.insert(id, x_wg);
    assert_eq!(s.label().at(4, 4), [5]);
    assert!(s.depth().at(4, 4)[0] < 0.9); // the glass is seen in depth
}

#[test]
fn mistakes_are_errors() {
    let new = |change: fn(&mut RenderEngineCpuParams)| {
        let mut params = RenderEngineCpuParams::default();
        change(&mut params);
        RenderEngineCpu::new(params)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(new(|p| p.default_label = RenderLabel::EMPTY).contains("default_label"));
    assert!(new(|p| p.threads = Some(0)).contains("threads is 0"));
    assert!(new(|p| p.samples_per_side = 0).contains("samples_per_side is 0"));
    assert!(
        new(|p| p.lights = vec![LightParameter {
            direction: Vector3::zeros(),
            ..Default::default()
        }])
        .contains("light 0: the direction has no length")
    );

    let mut s = Fixture::new(8, 6, 0.1, 10.0);
    let ball: Shape = Sphere::new(0.1).unwrap().into();
    let id = s.add(ball.clone(), Isometry3::identity(), 1);
    let again = s
        .engine
        .register_visual(id, &ball, &PerceptionProperties::new());
    assert!(
        again
            .unwrap_err()
            .to_string()
            .contains("registered with this render engine already")
    );
    let camera = ColorRenderCamera::new(s.core.clone());
    let nowhere = |_| None;
    let view = RenderView::new(Isometry3::identity(), &nowhere);
    let e = s
        .engine
        .render_color(&view, &camera, &mut Image::new(8, 6))
        .unwrap_err();
    assert_eq!(
        e.to_string(),
        format!("geometry {id} is to be drawn but has no pose")
    );
    let e = s
        .engine
        .render_label(&view, &camera, &mut Image::new(8, 7))
        .unwrap_err();
    assert!(e.to_string().contains("8 x 7"), "{e}");
    assert!(s.engine.remove_visual(id) && !s.engine.remove_visual(id));
}

#[test]
fn engines_decline_what_is_meant_for_others() {
    let named = RenderEngineCpuParams {
        renderer_name: Some("a".into()),
        ..Default::default()
    };
    let mut engine = RenderEngineCpu::new(named).unwrap();
    let ball: Shape = Sphere::new(0.1).unwrap().into();
    let mut accepts = |names: &[&str]| {
        let mut p = PerceptionProperties::new();
        let names: std::collections::BTreeSet<String> = names.iter().map(|n| (*n).into()).collect();
        p.set("renderer", "accepting", names);
        engine
            .register_visual(GeometryId::new(), &ball, &p)
            .unwrap()
    };
    assert!(accepts(&["a", "b"]));
    assert!(!accepts(&["b"]));
}

#[test]
fn declared_lights_replace_the_lamp() {
    let mut s = Fixture::new(8, 8, 0.1, 10.0);
    s.add(
        Sphere::new(1.0).unwrap(),
        Isometry3::translation(0.0, 0.0, 3.0),
        1,
    );
    let center = |s: &Fixture| <[u8; 4]>::try_from(s.color().at(4, 4)).unwrap();
    let lit = |s: &mut Fixture, light: LightParameter| {
        s.engine.params.lights = vec![light];
        center(s)
    };
    let [r, ..] = center(&s);
    assert!(r > 245);
    let lamp = LightParameter::default();
    let from_behind = LightParameter {
        direction: -Vector3::z(),
        ..lamp
    };
    assert_eq!(lit(&mut s, from_behind), [0, 0, 0, 255]);
    let point = LightParameter {
        light_type: LightType::Point,
        attenuation_values: Vector3::new(0.0, 0.0, 1.0),
        ..lamp
    };
    let [far, ..] = lit(&mut s, point); // two metres away: a quarter
    assert!(
        (f64::from(far) - f64::from(r) / 4.0).abs() < 6.0,
        "{far} {r}"
    );
    let spot = LightParameter {
        light_type: LightType::Spot,
        cone_angle: 1.0,
        ..lamp
    };
    s.add(
        BoxShape::new(9.0, 9.0, 0.1).unwrap(),
        Isometry3::translation(0.0, 0.0, 5.0),
        2,
    );
    s.engine.params.lights = vec![spot];
    assert_eq!(s.color().at(0, 0), [0, 0, 0, 255]);
    let world = LightParameter {
        frame: LightFrame::World,
        direction: Vector3::x(),
        ..lamp
    };
    s.engine.params.lights = vec![world];
    assert_eq!(s.color().at(0, 0), [0, 0, 0, 255]);
}

#[test]
fn samples_smooth_the_edges_only() {
    let mut s = Fixture::new(40, 30, 0.1, 10.0);
    s.add(
        BoxShape::new(0.7, 0.7, 0.1).unwrap(),
        Isometry3::translation(0.011, 0.017, 2.0),
        1,
    );
    let hard = s.color();
    s.engine.params.samples_per_side = 4;
    let soft = s.color();
    let different = |u: usize, v: usize| hard.at(u, v) != soft.at(u, v);
    let n = s.pixels().filter(|&(u, v)| different(u, v)).count();
    assert!((10..100).contains(&n), "{n} pixels differ");
}
