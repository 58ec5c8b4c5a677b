//! Batches: the same bytes for any size and order, one by one or at once.

use crate::models::Folder;
use crate::support::{DECLARED, Pair, Random, compare};
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;
use tarragon_geometry::render::{
    CameraBatch, ImageBatch, ImageDepth32F, ImageLabel16I, ImageRgba8U, RenderEngine,
    RenderEngineCpuParams, RenderView,
};
use tarragon_geometry::{GeometryId, Mesh};

type World = BTreeMap<GeometryId, Isometry3<f64>>;

/// Returns a scene of shapes and meshes, and worlds with other poses of its visuals.
fn worlds(pair: &mut Pair, files: &Folder, count: usize) -> Vec<World> {
    let mut random = Random(21);
    let mesh = files.lumpy(12);
    for k in 0..9 {
        let color = random.color();
        if k % 3 == 2 {
            pair.add(Mesh::new(&mesh), Isometry3::identity(), color);
        } else {
            let shape = random.shape(k % 5);
            pair.add(shape, Isometry3::identity(), color);
        }
    }
    let ids: Vec<GeometryId> = pair.poses.keys().copied().collect();
    (0..count)
        .map(|world| {
            let all = ids.iter().enumerate();
            // Every world lacks one of the visuals.
            let here = all.filter(|(k, _)| *k != world % ids.len());
            here.map(|(_, id)| {
                let p = random.vector(0.8);
                (*id, random.pose(p + Vector3::z() * 2.0))
            })
            .collect()
        })
        .collect()
}

fn draw(engine: &dyn RenderEngine, worlds: &[&World], cameras: &CameraBatch) -> ImageBatch {
    let poses: Vec<_> = worlds
        .iter()
        .map(|world| |id: GeometryId| world.get(&id).copied())
        .collect();
    let at = Isometry3::identity();
    let views: Vec<_> = poses.iter().map(|p| RenderView::new(at, p)).collect();
    let mut images = ImageBatch::default();
    engine.render_batch(&views, cameras, &mut images).unwrap();
    images
}

/// Checks that two views have the same bytes.
fn same(a: &ImageBatch, i: usize, b: &ImageBatch, j: usize) {
    let z = |images: &ImageBatch, k: usize| images.depth.image(k).to_vec();
    let (za, zb) = (z(a, i), z(b, j));
    let off = za
        .iter()
        .zip(&zb)
        .filter(|(x, y)| x.to_bits() != y.to_bits());
    let off: Vec<_> = off.collect();
    assert!(off.is_empty(), "views {i} and {j}: depths {off:?}");
    assert!(
        a.label.image(i) == b.label.image(j),
        "views {i} and {j}: labels"
    );
    let colors = a.color.image(i).iter().zip(b.color.image(j));
    let off: Vec<_> = colors.filter(|(x, y)| x != y).collect();
    assert!(off.is_empty(), "views {i} and {j}: colours {off:?}");
}

#[test]
fn images_are_the_same_for_any_size_and_order_of_a_batch() {
    let files = Folder::new();
    let params = RenderEngineCpuParams::default();
    let Some(mut pair) = Pair::new(params, (64, 48)) else {
        return;
    };
    let worlds = worlds(&mut pair, &files, 70);
    let all: Vec<&World> = worlds.iter().collect();
    let cameras = pair.cameras();
    let images = draw(&pair.gpu, &all, &cameras);
    compare(
        "70 worlds",
        &draw(&pair.cpu, &all, &cameras),
        &images,
        &DECLARED,
    );
    // Reversed, in smaller batches, and each alone.
    let reversed: Vec<&World> = worlds.iter().rev().collect();
    let other = draw(&pair.gpu, &reversed, &cameras);
    for k in 0..worlds.len() {
        same(&images, k, &other, worlds.len() - 1 - k);
    }
    for (c, some) in all.chunks(7).enumerate() {
        let other = draw(&pair.gpu, some, &cameras);
        for k in 0..some.len() {
            same(&images, 7 * c + k, &other, k);
        }
    }
    let color = cameras.color().unwrap();
    for (k, world) in worlds.iter().enumerate().take(10) {
        let poses = |id: GeometryId| world.get(&id).copied();
        let view = RenderView::new(Isometry3::identity(), &poses);
        let mut one = ImageRgba8U::new(64, 48);
        pair.gpu.render_color(&view, color, &mut one).unwrap();
        assert_eq!(images.color.image(k), one.data());
        let mut one = ImageDepth32F::new(64, 48);
        pair.gpu
            .render_depth(&view, cameras.depth().unwrap(), &mut one)
            .unwrap();
        assert_eq!(images.depth.image(k), one.data());
        let mut one = ImageLabel16I::new(64, 48);
        pair.gpu.render_label(&view, color, &mut one).unwrap();
        assert_eq!(images.label.image(k), one.data());
    }
}

#[test]
fn batches_larger_than_the_ring_and_tickets_have_the_same_images() {
    let files = Folder::new();
    let params = RenderEngineCpuParams::default();
    // Large images: one in an atlas, so that the ring of three turns over.
    let Some(mut pair) = Pair::new(params, (1100, 1100)) else {
        return;
    };
    let worlds = worlds(&mut pair, &files, 5);
    let all: Vec<&World> = worlds.iter().collect();
    let label = pair.cameras().label().unwrap().clone();
    let cameras = CameraBatch::new().with_label(label);
    let images = draw(&pair.gpu, &all, &cameras);
    // The first, and those in storage that is used again.
    for k in [0, 3, 4] {
        let one = draw(&pair.gpu, &all[k..=k], &cameras);
        assert_eq!(images.label.image(k), one.label.image(0), "world {k}");
    }
    // Two tickets at once, waited for in the other order.
    let poses: Vec<_> = worlds
        .iter()
        .map(|world| |id: GeometryId| world.get(&id).copied())
        .collect();
    let at = Isometry3::identity();
    let views: Vec<_> = poses.iter().map(|p| RenderView::new(at, p)).collect();
    let first = pair.gpu.submit_batch(&views[..2], &cameras).unwrap();
    let second = pair.gpu.submit_batch(&views[2..], &cameras).unwrap();
    let mut out = ImageBatch::default();
    second.wait(&mut out).unwrap();
    assert_eq!(out.label.image(2), images.label.image(4));
    first.wait(&mut out).unwrap();
    assert_eq!(
        (out.label.len(), out.label.image(1)),
        (2, images.label.image(1))
    );
    assert!(
        pair.gpu.submit_batch(&views, &cameras).is_ok(),
        "a ticket may be dropped"
    );
    assert!(draw(&pair.gpu, &[], &cameras).label.is_empty());
}
