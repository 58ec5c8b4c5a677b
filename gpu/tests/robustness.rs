//! Many rounds, many threads, lost devices.

use crate::models::Folder;
use crate::support::{Pair, Random, say};
use nalgebra::{Isometry3, Vector3};
use tarragon_geometry::render::{
    ImageDepth32F, ImageRgba8U, LightParameter, LightType, RenderEngine, RenderEngineCpuParams,
    RenderView,
};
use tarragon_geometry::{
    BoxShape, GeometryId, HalfSpace, Mesh, PerceptionProperties, Rgba, Sphere,
};

/// Returns the resident memory of this process (bytes); `None` where the system does not tell.
fn resident() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: f64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(4096.0 * pages)
}

/// Registers, draws and removes a different mesh and a shape in every round.
fn rounds(count: usize) {
    let files = Folder::new();
    let Some(pair) = Pair::new(RenderEngineCpuParams::default(), (64, 48)) else {
        return;
    };
    let mut engine = pair.gpu.clone();
    let cameras = pair.cameras();
    let mesh = files.lumpy(20);
    let mut random = Random(31);
    let pose = |_| Some(Isometry3::translation(0.0, 0.0, 2.0));
    let view = RenderView::new(Isometry3::identity(), &pose);
    let mut image = ImageRgba8U::new(64, 48);
    let (mut early, warm) = (0.0, count / 4);
    for round in 0..count {
        let ids = [GeometryId::new(), GeometryId::new()];
        let scale = Vector3::repeat(0.5 + round as f64 / count as f64);
        let shape = Mesh::with_scale(&mesh, scale).unwrap().into();
        let properties = PerceptionProperties::phong(random.color());
        engine.register_visual(ids[0], &shape, &properties).unwrap();
        engine
            .register_visual(ids[1], &random.shape(round % 5), &properties)
            .unwrap();
        engine
            .render_color(&view, cameras.color().unwrap(), &mut image)
            .unwrap();
        assert!(ids.iter().all(|id| engine.remove_visual(*id)));
        if round == warm {
            early = resident().unwrap_or_default();
        }
    }
    assert_eq!(engine.mesh_count(), 0);
    let grown = resident().unwrap_or_default() - early;
    let rounds = count - warm;
    say(&format!(
        "{rounds} rounds: memory grew by {:.2} MB",
        grown / 1e6
    ));
    // A mesh takes 90 kB: leaking one per round would take far more.
    let most = 8e6_f64.max(0.1 * 9e4 * rounds as f64);
    assert!(grown < most, "memory grew by {:.1} MB", grown / 1e6);
}

/// Runs in a process of its own, whose memory no other test changes. `TARRAGON_ROUNDS=10000` makes
/// a soak of it, which takes minutes.
#[test]
fn registering_and_removing_holds_memory_flat() {
    const OWN_PROCESS: &str = "TARRAGON_ROUNDS_OF_THIS_PROCESS";
    if let Ok(text) = std::env::var(OWN_PROCESS) {
        return rounds(text.parse().unwrap());
    }
    let count = std::env::var("TARRAGON_ROUNDS").unwrap_or_else(|_| "400".into());
    let name = "robustness::registering_and_removing_holds_memory_flat";
    let out = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(OWN_PROCESS, count)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stderr);
    let told: Vec<&str> = text
        .lines()
        .filter(|l| l.contains("rounds:") || l.contains("SKIPPED"))
        .collect();
    told.iter().for_each(|line| say(line));
    assert!(out.status.success() && !told.is_empty(), "{text}");
}

#[test]
fn degenerate_scenes_have_no_nan() {
    let files = Folder::new();
    // Triangles without area, a normal of zero, and a light on the surface in front of the camera.
    let text = "v 0 0 0\nv 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nvn 0 0 0\nvn 0 0 -1\n\
                f 1//2 2//2 3//2\nf 1//2 3//2 4//2\nf 1//1 3//1 5//1\n";
    let mesh = files.write("degenerate.obj", text);
    let lamp = LightParameter {
        light_type: LightType::Point,
        position: Vector3::new(0.0, 0.0, 2.0),
        ..LightParameter::default()
    };
    let params = RenderEngineCpuParams {
        lights: vec![lamp],
        exposure: Some(1.0),
        ..RenderEngineCpuParams::default()
    };
    let Some(mut pair) = Pair::new(params, (64, 48)) else {
        return;
    };
    let at = |x, y, z| Isometry3::translation(x, y, z);
    pair.add(Mesh::new(mesh), at(-0.3, -0.3, 2.0), Rgba::WHITE);
    // The camera is in the plane of one half space, and on the surface of a ball.
    pair.add(HalfSpace, at(0.0, 0.0, 0.0), Rgba::WHITE);
    pair.add(Sphere::new(0.5).unwrap(), at(0.5, 0.0, 0.0), Rgba::WHITE);
    pair.add(
        BoxShape::new(0.5, 1.0, 1.0).unwrap(),
        at(-0.5, 0.5, 2.5),
        Rgba::WHITE,
    );
    let images = pair.draw(&pair.gpu);
    assert!(images.depth.data().iter().all(|z| !z.is_nan() && *z >= 0.0));
}

#[test]
fn a_lost_device_is_an_error_and_the_next_call_starts_it_again() {
    let files = Folder::new();
    let Some(mut pair) = Pair::new(RenderEngineCpuParams::default(), (64, 48)) else {
        return;
    };
    let mut random = Random(2);
    let pose = random.pose(Vector3::z() * 2.0);
    pair.add(Mesh::new(files.lumpy(9)), pose, random.color());
    let poses = |id| pair.poses.get(&id).copied();
    let view = RenderView::new(pair.x_wc, &poses);
    let cameras = pair.cameras();
    let before = pair.draw(&pair.gpu);
    // A batch that is on its way when the device is lost fails or is complete; it never hangs.
    let ticket = pair.gpu.submit_batch(&[view], &cameras).unwrap();
    pair.gpu.lose_device();
    let mut images = Default::default();
    match ticket.wait(&mut images) {
        Ok(()) => assert_eq!(images.label, before.label),
        Err(e) => assert!(e.to_string().contains("RenderEngineGpu: "), "{e}"),
    }
    for _ in 0..2 {
        let after = pair.draw(&pair.gpu);
        assert!(after.color == before.color && after.label == before.label);
        pair.gpu.lose_device();
    }
    // Copies share the device, and start it again as well.
    let copy = pair.gpu.clone();
    assert!(pair.draw(&copy).color == before.color);
}

#[test]
fn threads_draw_at_once_with_copies_that_change() {
    let files = Folder::new();
    let Some(mut pair) = Pair::new(RenderEngineCpuParams::default(), (64, 48)) else {
        return;
    };
    let mesh = files.lumpy(9);
    let mut random = Random(4);
    for k in 0..6 {
        let p = random.vector(0.5);
        let (pose, color) = (random.pose(p + Vector3::z() * 2.0), random.color());
        if k % 2 == 0 {
            pair.add(Mesh::new(&mesh), pose, color);
        } else {
            let shape = random.shape(k % 5);
            pair.add(shape, pose, color);
        }
    }
    let expected = pair.draw(&pair.gpu);
    let cameras = pair.cameras();
    std::thread::scope(|scope| {
        for k in 0..4 {
            let (pair, expected, cameras) = (&pair, &expected, &cameras);
            scope.spawn(move || {
                let mut random = Random(100 + k);
                let mut engine = pair.gpu.clone();
                for round in 0..10 {
                    let id = GeometryId::new();
                    let plain = PerceptionProperties::new();
                    engine
                        .register_visual(id, &random.shape(round % 5), &plain)
                        .unwrap();
                    let poses = |id| pair.poses.get(&id).copied();
                    let view = RenderView::new(pair.x_wc, &poses);
                    let mut image = ImageDepth32F::new(64, 48);
                    engine
                        .render_depth(&view, cameras.depth().unwrap(), &mut image)
                        .unwrap();
                    assert_eq!(image.data(), expected.depth.data());
                    assert!(engine.remove_visual(id));
                }
            });
        }
    });
}
