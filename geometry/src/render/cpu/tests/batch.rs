//! Batches equal images that are drawn one by one.

use super::*;
use crate::error::Error;
use crate::render::{CameraBatch, ImageBatch};

#[test]
fn batches_equal_single_images() {
    let mut f = Fixture::new(45, 31, 0.1, 20.0);
    let mut random = Random(5);
    let ids: Vec<GeometryId> = (0..12)
        .map(|k| {
            let (shape, p) = (random.shape(k % 5), random.vector(1.0));
            f.add(shape, random.pose(p), k as i16)
        })
        .collect();
    // Every world has its own poses, and lacks one of the visuals.
    let worlds: Vec<BTreeMap<GeometryId, Isometry3<f64>>> = (0..7)
        .map(|world| {
            let here = ids.iter().enumerate().filter(|(k, _)| *k != world);
            here.map(|(_, id)| {
                let p = random.vector(1.0) + Vector3::z() * 3.0;
                (*id, random.pose(p))
            })
            .collect()
        })
        .collect();
    let poses: Vec<_> = worlds
        .iter()
        .map(|world| |id: GeometryId| world.get(&id).copied())
        .collect();
    let views: Vec<_> = poses
        .iter()
        .map(|poses| RenderView::new(f.x_wc, poses))
        .collect();
    let color = ColorRenderCamera::from_core(f.core.clone());
    let depth = DepthRenderCamera::from_core(f.core.clone(), f.range).unwrap();
    let cameras = CameraBatch::new()
        .with_color(color.clone())
        .with_depth(depth.clone())
        .with_label(color.clone());
    let engine: Box<dyn RenderEngine> = Box::new(f.engine.clone());
    let mut images = ImageBatch::default();
    engine.render_batch(&views, &cameras, &mut images).unwrap();
    assert_eq!(images.color.shape(), [7, 31, 45, 4]);
    for (k, view) in views.iter().enumerate() {
        let mut one = ImageRgba8U::new(45, 31);
        engine.render_color(view, &color, &mut one).unwrap();
        assert_eq!(images.color.image(k), one.data());
        let mut one = ImageDepth32F::new(45, 31);
        engine.render_depth(view, &depth, &mut one).unwrap();
        assert_eq!(images.depth.image(k), one.data());
        let mut one = ImageLabel16I::new(45, 31);
        engine.render_label(view, &color, &mut one).unwrap();
        assert_eq!(images.label.image(k), one.data());
    }
    // A second batch into the same memory, without colours.
    let cameras = CameraBatch::new().with_label(color);
    let ticket = engine.submit_batch(&views[..2], &cameras).unwrap();
    let labels = images.label.clone();
    ticket.wait(&mut images).unwrap();
    assert!(images.color.is_empty() && images.depth.is_empty());
    assert_eq!(images.label.image(1), labels.image(1));
    assert!(engine.render_batch(&[], &cameras, &mut images).is_ok() && images.label.is_empty());
}

/// Errors name the view, unless there is only one.
#[test]
fn errors_of_a_batch_name_the_view() {
    /// Engine that cannot draw.
    #[derive(Clone)]
    struct Broken;
    impl RenderEngine for Broken {
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
            view: &RenderView<'_>,
            _: &ColorRenderCamera,
            _: &mut ImageRgba8U,
        ) -> Result<()> {
            match view.x_wc.translation.x {
                0.0 => Ok(()),
                _ => Err(Error::unsupported("it is broken")),
            }
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
    let poses = |_| None;
    let at = |x| RenderView::new(Isometry3::translation(x, 0.0, 0.0), &poses);
    let f = Fixture::new(4, 3, 0.1, 20.0);
    let cameras = CameraBatch::new().with_color(ColorRenderCamera::from_core(f.core.clone()));
    let error = |views: &[RenderView<'_>]| {
        let drawn = Broken.render_batch(views, &cameras, &mut ImageBatch::default());
        drawn.unwrap_err().to_string()
    };
    assert_eq!(
        error(&[at(0.0), at(1.0)]),
        "view 1 of the batch: it is broken"
    );
    assert_eq!(error(&[at(1.0)]), "it is broken");
}
