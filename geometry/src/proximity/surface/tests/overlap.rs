use super::*;
use crate::proximity::distance_to_point;

/// Points of a shape, many of them on its boundary.
fn sample(random: &mut Random, shape: &Shape, bounds: f64) -> Vec<Vector3<f64>> {
    let o = Isometry3::identity();
    let mut points = vec![];
    while points.len() < 400 {
        let p = random.vector() * bounds;
        let d = distance_to_point(shape, &o, &p).unwrap();
        if d.distance <= 0.0 {
            points.push(p);
        }
        points.push(d.p_gn);
    }
    points
}

#[test]
fn trial() {
    let mut random = Random::new(3);
    for k in 0..4 {
        let m = mesh(&solid(k));
        for b in 1..BODIES {
            let mut worst: f64 = 0.0;
            let mut time = 0.0_f64;
            let mut slow = 0.0_f64;
            let mut count = 0;
            for _ in 0..60 {
                let s = body(&mut random, b);
                let (xa, xb) = (random.pose(0.05), random.pose(0.08));
                let t = std::time::Instant::now();
                let d = true_distance(&m, &xa, &s, &xb);
                let e = t.elapsed().as_secs_f64();
                if d.distance < 0.0 {
                    time += e;
                    slow = slow.max(e);
                    count += 1;
                } else {
                    continue;
                }
                check(&d);
                let r = match &s {
                    Shape::Capsule(c) => c.radius(),
                    _ => 0.0,
                };
                let inner: Shape = match &s {
                    Shape::Capsule(c) => Capsule::new(1e-9, c.length()).unwrap().into(),
                    o => o.clone(),
                };
                for p in sample(&mut random, &inner, 0.2) {
                    let p = xb * nalgebra::Point3::from(p);
                    let f = distance_to_point(&m.clone().into(), &xa, &p.coords)
                        .unwrap()
                        .distance
                        - r;
                    worst = worst.max((d.distance - f) / d.distance.abs());
                }
            }
            eprintln!(
                "mesh {k} body {b}: {count} overlapping, worst {worst:.2e}, mean {:.1} us, max {:.1} us",
                time / count as f64 * 1e6,
                slow * 1e6
            );
        }
    }
    for k in 0..4 {
        for l in 0..4 {
            let (m, n) = (mesh(&solid(k)), mesh(&solid(l)));
            let (mut time, mut slow, mut count) = (0.0_f64, 0.0_f64, 0);
            for _ in 0..40 {
                let (xa, xb) = (random.pose(0.05), random.pose(0.1));
                let t = std::time::Instant::now();
                let d = true_distance(&m, &xa, &n.clone().into(), &xb);
                let e = t.elapsed().as_secs_f64();
                check(&d);
                if d.distance < 0.0 {
                    time += e;
                    slow = slow.max(e);
                    count += 1;
                } else {
                    continue;
                }
            }
            eprintln!(
                "mesh {k} mesh {l}: {count} overlapping, mean {:.1} us, max {:.1} us",
                time / count as f64 * 1e6,
                slow * 1e6
            );
        }
    }
}
