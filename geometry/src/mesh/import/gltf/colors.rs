//! Vertex colours.

use super::document::GltfDocument;
use crate::error::Result;
use gltf::Accessor;
use gltf::accessor::{DataType, Dimensions, Item};

/// Reads the colours of an accessor, red, green, blue and opacity in `[0, 1]`.
pub(super) fn read<'a>(
    document: &'a GltfDocument<'a>,
    accessor: Accessor<'a>,
) -> Result<Vec<[f32; 4]>> {
    let index = accessor.index();
    let kind = (accessor.data_type(), accessor.dimensions());
    match kind {
        (DataType::U8, Dimensions::Vec3) => {
            elements(document, accessor, |c: [u8; 3]| bytes(rgb(c, 255)))
        }
        (DataType::U8, Dimensions::Vec4) => elements(document, accessor, bytes),
        (DataType::U16, Dimensions::Vec3) => {
            elements(document, accessor, |c: [u16; 3]| words(rgb(c, 65535)))
        }
        (DataType::U16, Dimensions::Vec4) => elements(document, accessor, words),
        (DataType::F32, Dimensions::Vec3) => {
            elements(document, accessor, |c: [f32; 3]| rgb(c, 1.0))
        }
        (DataType::F32, Dimensions::Vec4) => elements(document, accessor, |c: [f32; 4]| c),
        (found, _) => Err(document.at.error(format!(
            "accessors[{index}]: components of COLOR_0 must be three or four of U8, U16 or F32, got \
             {found:?}"
        ))),
    }
}

fn elements<'a, C: Item>(
    document: &'a GltfDocument<'a>,
    accessor: Accessor<'a>,
    color: impl Fn(C) -> [f32; 4],
) -> Result<Vec<[f32; 4]>> {
    let dimensions = accessor.dimensions();
    let all = document.elements::<C>("COLOR_0", accessor, dimensions)?;
    let unit = |x: f32| {
        if x.is_finite() {
            x.clamp(0.0, 1.0)
        } else {
            1.0
        }
    };
    Ok(all.map(|c| color(c).map(unit)).collect())
}

fn rgb<C: Copy>([r, g, b]: [C; 3], opaque: C) -> [C; 4] {
    [r, g, b, opaque]
}
fn bytes(c: [u8; 4]) -> [f32; 4] {
    c.map(|x| f32::from(x) / 255.0)
}
fn words(c: [u16; 4]) -> [f32; 4] {
    c.map(|x| f32::from(x) / 65535.0)
}
