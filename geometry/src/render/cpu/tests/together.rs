//! Preparation of an image by several threads.

use super::*;
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns a scene of enough balls for many chunks, followed by a mesh of several chunks.
fn crowd() -> Fixture {
    let mut s = Fixture::new(200, 150, 0.1, 20.0);
    for k in 0..300 {
        let (x, y) = (f64::from(k % 20) - 9.5, f64::from(k / 20) - 7.0);
        let x_wg = Isometry3::translation(0.4 * x, 0.4 * y, 6.0);
        s.add(Sphere::new(0.15).unwrap(), x_wg, 1 + (k % 7) as i16);
    }
    let path = obj("crowd", &lumpy(100));
    s.add(Mesh::new(&path), Isometry3::translation(0.0, 0.0, 2.0), 9);
    std::fs::remove_file(path).unwrap();
    s
}

fn pool(threads: usize) -> rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap()
}

#[test]
fn pose_callbacks_may_run_in_parallel_and_draw() {
    let s = crowd();
    let expected = (s.label(), s.depth());
    let camera = ColorRenderCamera::from_core(s.core.clone());
    // The callback waits in rayon, which may run any other task of the pool, including tasks of the
    // same image.
    let poses = |id: GeometryId| {
        let busy: u32 = (0..64_u32).into_par_iter().with_max_len(1).sum();
        assert_eq!(busy, 2016);
        s.poses.get(&id).copied()
    };
    let drawing = |id: GeometryId| {
        let some = s.poses.keys().position(|k| *k == id);
        if some.is_some_and(|k| k % 50 == 0) {
            assert!(s.depth() == expected.1);
        }
        s.poses.get(&id).copied()
    };
    for threads in [1, 2, 4] {
        pool(threads).install(|| {
            for _ in 0..4 {
                let all: [&(dyn Fn(GeometryId) -> Option<Isometry3<f64>> + Sync); 2] =
                    [&poses, &drawing];
                for poses in all {
                    let mut image = Image::new(200, 150);
                    let view = RenderView::new(s.x_wc, poses);
                    s.engine.render_label(&view, &camera, &mut image).unwrap();
                    assert!(image == expected.0, "{threads} threads");
                }
            }
        });
    }
}

#[test]
fn a_panic_in_a_pose_callback_aborts_only_its_image() {
    let s = crowd();
    let expected = s.label();
    let camera = ColorRenderCamera::from_core(s.core.clone());
    for (k, bad) in s.poses.keys().copied().enumerate().step_by(60) {
        let poses = |id: GeometryId| {
            assert!(id != bad, "no pose of {id}");
            s.poses.get(&id).copied()
        };
        let drawn = pool(1 + k % 4).install(|| {
            let view = RenderView::new(s.x_wc, &poses);
            let mut image = Image::new(200, 150);
            catch_unwind(AssertUnwindSafe(|| {
                s.engine.render_label(&view, &camera, &mut image)
            }))
        });
        assert!(drawn.is_err());
    }
    assert!(s.label() == expected);
}

#[test]
fn concurrent_images_equal_those_drawn_alone() {
    let s = crowd();
    let expected = (s.color(), s.depth(), s.label());
    pool(4).install(|| {
        (0..24).into_par_iter().with_max_len(1).for_each(|_| {
            assert!(s.color() == expected.0);
            assert!(s.depth() == expected.1);
            assert!(s.label() == expected.2);
        });
    });
}
