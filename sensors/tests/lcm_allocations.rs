//! Messages of images reuse the memory of earlier messages.

use crate::counting_allocator::ALLOCATIONS;
use tarragon_framework::prelude::*;
use tarragon_lcm::types::LcmtImageArray;
use tarragon_sensors::*;

/// Returns the number of allocations of this thread while `work` runs.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(|n| n.get());
    work();
    ALLOCATIONS.with(|n| n.get()) - before
}

#[test]
fn later_messages_reuse_memory() {
    for do_compress in [false, true] {
        let mut b = DiagramBuilder::new();
        let to = ImageToLcmImageArrayT::with_color_depth_label("c", "d", "l", do_compress);
        let to = b.add_f64("to", to.unwrap());
        let from = b.add_f64("from", LcmImageArrayToImages::new());
        b.connect(to.image_array_t, from.image_array_t);
        let mut ctx = b.build().unwrap().default_context();
        let color = (0..4 * 160 * 120_u32)
            .map(|i| (i % 1009 * i / 7) as u8)
            .collect();
        let color = ImageRgba8U::from_data(160, 120, color).unwrap();
        ctx.fix(to.color_image().unwrap(), color).unwrap();
        ctx.fix(
            to.depth_image().unwrap(),
            ImageDepth32F::with_value(160, 120, 1.5),
        )
        .unwrap();
        ctx.fix(
            to.label_image().unwrap(),
            ImageLabel16I::with_value(160, 120, 3),
        )
        .unwrap();
        let mut first = LcmtImageArray::default();
        for k in 0..4 {
            ctx.set_time(f64::from(k));
            let encoding = allocations(|| {
                ctx.eval(to.image_array_t).unwrap();
            });
            let decoding = allocations(|| {
                ctx.eval(from.color_image).unwrap();
                ctx.eval(from.depth_image).unwrap();
                ctx.eval(from.label_image).unwrap();
            });
            match k {
                0 => first = ctx.eval(to.image_array_t).unwrap().clone(),
                1 => {}
                // The memory of compressed data is larger than the data, and `Bytes` allocates a
                // few bytes to remember its size.
                _ => {
                    let most = if do_compress { 3 } else { 0 };
                    assert!(encoding <= most && decoding == 0, "{encoding}, {decoding}");
                }
            }
        }
        let last = ctx.eval(to.image_array_t).unwrap();
        for (a, b) in first.images.iter().zip(&last.images) {
            assert!(a.data == b.data, "the bytes do not change");
        }
    }
}
