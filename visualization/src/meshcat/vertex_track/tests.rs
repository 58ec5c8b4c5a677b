//! Recorded vertices come back, in little memory.

use super::*;
use proptest::prelude::*;
use std::f64::consts::TAU;

/// Returns a sphere of `2 + around * rings` vertices, whose positions do not matter.
fn sphere(around: u32, rings: u32) -> Arc<RenderMesh> {
    let at = |ring: u32, k: u32| 2 + ring * around + k % around;
    let mut triangles = vec![];
    for k in 0..around {
        triangles.push([0, at(0, k), at(0, k + 1)]);
        triangles.push([1, at(rings - 1, k + 1), at(rings - 1, k)]);
        for ring in 1..rings {
            let [a, b] = [k, k + 1].map(|k| at(ring - 1, k));
            let [c, d] = [k, k + 1].map(|k| at(ring, k));
            triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    let count = (2 + around * rings) as usize;
    Arc::new(RenderMesh {
        positions: vec![nalgebra::Point3::origin(); count],
        triangles,
        ..RenderMesh::default()
    })
}

/// Returns the vertices of a soft ball with a radius of 0.1 m at a time (s): it flies, bounces,
/// turns and swings.
fn ball(around: u32, rings: u32, t: f64) -> Vec<Vector3<f64>> {
    let polar = (0..rings).flat_map(|ring| {
        (0..around).map(move |k| {
            let theta = TAU / 2.0 * f64::from(ring + 1) / f64::from(rings + 1);
            (theta, TAU * f64::from(k) / f64::from(around))
        })
    });
    let all = [(0.0, 0.0), (TAU / 2.0, 0.0)].into_iter().chain(polar);
    let height = 0.1 + (1.4 * (t / 0.8).fract() * (1.0 - (t / 0.8).fract())).abs();
    all.map(|(theta, phi)| {
        let wave = 1.0 + 0.08 * (3.0 * theta + TAU * 6.0 * t).sin() * (2.0 * phi + 9.0 * t).cos();
        let around = phi + 3.0 * t;
        let unit = [
            theta.sin() * around.cos(),
            theta.sin() * around.sin(),
            theta.cos(),
        ];
        0.1 * wave * Vector3::from(unit) + Vector3::new(0.4 * t, 0.1, height)
    })
    .collect()
}

/// Returns the largest difference of coordinates, relative to the longest side of the bounds of the
/// expected vertices.
fn error(frame: &Frame, expected: &[Vector3<f64>]) -> f64 {
    let side = (0..3).map(|axis| {
        let along = expected.iter().map(|p| p[axis]);
        along.clone().fold(f64::MIN, f64::max) - along.fold(f64::MAX, f64::min)
    });
    let side = side.fold(0.0, f64::max);
    let found = frame.as_chunks::<3>().0.iter().zip(expected);
    let errors = found.map(|(p, q)| (Vector3::from(*p) - q).amax() / side);
    errors.fold(0.0, f64::max)
}

/// Returns all frames that pages show.
fn frames(track: &VertexTrack) -> BTreeMap<u32, Frame> {
    let groups = track.encoded();
    let frames = groups.values().flat_map(|g| g.decode(&track.predictor));
    frames.collect()
}

/// The error is that of rounding to half a step, in frame 2 as in frame 999: at most 1e-5 of the
/// ball. Neither is much memory needed.
#[test]
fn a_thousand_frames_of_five_thousand_vertices_stay_exact_and_small() {
    let (around, rings) = (98, 51);
    let mesh = sphere(around, rings);
    assert_eq!(mesh.positions.len(), 5000);
    let mut track = VertexTrack::new(&mesh);
    for frame in 0..1000 {
        track.set(frame, &ball(around, rings, f64::from(frame) / 64.0));
    }
    let groups = track.encoded();
    let bytes: usize = groups.values().map(|group| group.data.len()).sum();
    let found = frames(&track);
    assert_eq!(found.len(), 1000);
    let errors = found
        .iter()
        .map(|(frame, found)| error(found, &ball(around, rings, f64::from(*frame) / 64.0)));
    let errors: Vec<f64> = errors.collect();
    let worst = |errors: &[f64]| errors.iter().copied().fold(0.0, f64::max);
    assert!(worst(&errors) <= 1e-5, "{:?}", worst(&errors));
    let (early, late) = (worst(&errors[..100]), worst(&errors[900..]));
    assert!(late < 1.5 * early, "{early:?} and {late:?}");
    // Two bytes per coordinate would be 30 MB.
    assert!(bytes < 12_000_000, "{bytes}");
    println!("{bytes} bytes, error {:?}", worst(&errors));
}

#[test]
fn resting_vertices_need_almost_nothing() {
    let mesh = sphere(40, 20);
    let mut track = VertexTrack::new(&mesh);
    for frame in 0..320 {
        track.set(frame, &ball(40, 20, 0.0));
    }
    let groups = track.encoded();
    let bytes = groups.values().map(|group| group.data.len()).sum::<usize>();
    // One frame of ten groups, and less than one bit per vertex in the others.
    assert!(bytes < 10 * 3 * 802 * 2 + 320 * 802 / 8, "{bytes}");
}

#[test]
fn frames_can_be_set_in_any_order_and_again() {
    let mesh = sphere(7, 5);
    let at = |t: u32| ball(7, 5, 0.05 * f64::from(t));
    let mut ordered = VertexTrack::new(&mesh);
    let mut shuffled = VertexTrack::new(&mesh);
    for frame in 0..100_u32 {
        ordered.set(frame, &at(frame));
        shuffled.set(frame * 37 % 100, &at(3));
    }
    // Frames of the same group are decoded and encoded several times in between.
    for frame in 0..100_u32 {
        let frame = frame * 41 % 100;
        shuffled.set(frame, &at(frame));
    }
    let (ordered, shuffled) = (frames(&ordered), frames(&shuffled));
    assert_eq!(shuffled.len(), 100);
    for (frame, found) in shuffled {
        assert!(error(&found, &at(frame)) <= 1e-5);
        assert!(error(&ordered[&frame], &at(frame)) <= 1e-5);
    }
}

#[test]
fn frames_recorded_meanwhile_are_added() {
    let mesh = sphere(7, 5);
    let at = |t: u32| ball(7, 5, 0.05 * f64::from(t));
    let mut before = VertexTrack::new(&mesh);
    for frame in 0..40 {
        before.set(frame, &at(frame));
    }
    let (mut changed, mut after) = (before.clone(), before.clone());
    changed.set(5, &at(90));
    after.set(6, &at(91));
    after.set(70, &at(70));
    changed.add_frames_since(Some(&before), &after);
    let found = frames(&changed);
    assert_eq!(found.len(), 41);
    for (frame, found) in &found {
        let expected = match frame {
            5 => at(90),
            6 => at(91),
            frame => at(*frame),
        };
        assert!(error(found, &expected) <= 1e-5, "{frame}");
    }
    // Nothing was added to a copy.
    let copy = changed.clone();
    changed.add_frames_since(Some(&after), &after);
    assert_eq!(changed, copy);
    // Vertices of another mesh cannot be added.
    let mut other = VertexTrack::new(&sphere(7, 5));
    other.add_frames_since(None, &after);
    assert!(frames(&other).is_empty());
}

#[test]
fn vertices_that_do_not_fit_are_left_out() {
    let mesh = sphere(7, 5);
    let mut track = VertexTrack::new(&mesh);
    let mut vertices = ball(7, 5, 0.0);
    track.set(0, &vertices[1..]);
    vertices[3].y = f64::NAN;
    track.set(1, &vertices);
    vertices[3].y = 1e40;
    track.set(2, &vertices);
    assert!(frames(&track).is_empty());
}

/// Near and far from the origin, tiny and huge, flat, and all in one point. Far away, single
/// precision is all that pages can draw.
fn any_scale() -> impl Strategy<Value = (f64, f64)> {
    let power = |range: std::ops::Range<i32>| range.prop_map(|e| 2.0_f64.powi(e));
    (power(-90..90), prop_oneof![Just(0.0), power(-90..90)])
}

proptest! {
    #[test]
    fn any_motion_comes_back(
        (scale, far) in any_scale(),
        flat in any::<bool>(),
        moves in prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, 12), 1..6),
    ) {
        let mesh = Arc::new(RenderMesh {
            positions: vec![nalgebra::Point3::origin(); 4],
            triangles: vec![[0, 1, 2], [1, 3, 2]],
            ..RenderMesh::default()
        });
        let all = moves.iter().map(|numbers| {
            let points = numbers.chunks_exact(3);
            let z = |p: &[f64]| if flat { 0.0 } else { p[2] };
            let points = points.map(|p| Vector3::new(p[0], p[1], z(p)) * scale);
            points.map(|p| p.add_scalar(far)).collect::<Vec<_>>()
        });
        let all: Vec<_> = all.collect();
        let mut track = VertexTrack::new(&mesh);
        for (frame, vertices) in all.iter().enumerate() {
            track.set(frame as u32, vertices);
        }
        for (frame, found) in frames(&track) {
            let expected = &all[frame as usize];
            let largest = expected.iter().map(|p| p.amax()).fold(0.0, f64::max);
            for (p, q) in found.as_chunks::<3>().0.iter().zip(expected) {
                let side = (0..3).map(|i| {
                    let along = expected.iter().map(|p| p[i]);
                    along.clone().fold(f64::MIN, f64::max) - along.fold(f64::MAX, f64::min)
                });
                let allowed = (1e-5 * side.fold(0.0, f64::max)).max(largest / (1 << 25) as f64);
                let error = (Vector3::from(*p) - q).amax();
                prop_assert!(error <= allowed, "{error:?} {allowed:?}");
            }
        }
    }
}
