//! Vertex colours.

use super::Reader;
use crate::error::Result;
use gltf::Accessor;
use gltf::accessor::{DataType, Dimensions, Item};

impl<'a> Reader<'a> {
    /// Appends the colours of the last `count` vertices.
    pub(super) fn colors(&mut self, accessor: Accessor<'a>, count: usize) -> Result<()> {
        self.same_count("COLOR_0", &accessor, count)?;
        // Vertices of earlier primitives may have no colours.
        let base = self.mesh.positions.len() - count;
        self.mesh.colors.resize(base, [1.0; 4]);
        let index = accessor.index();
        let kind = (accessor.data_type(), accessor.dimensions());
        match kind {
            (DataType::U8, Dimensions::Vec3) => self.push(accessor, |c: [u8; 3]| bytes(rgb(c, 255))),
            (DataType::U8, Dimensions::Vec4) => self.push(accessor, bytes),
            (DataType::U16, Dimensions::Vec3) => {
                self.push(accessor, |c: [u16; 3]| words(rgb(c, 65535)))
            }
            (DataType::U16, Dimensions::Vec4) => self.push(accessor, words),
            (DataType::F32, Dimensions::Vec3) => self.push(accessor, |c: [f32; 3]| rgb(c, 1.0)),
            (DataType::F32, Dimensions::Vec4) => self.push(accessor, |c: [f32; 4]| c),
            (found, _) => Err(self.document.at.error(format!(
                "accessors[{index}]: components of COLOR_0 must be three or four of U8, U16 or F32, \
                got {found:?}"
            ))),
        }
    }

    fn push<C: Item>(
        &mut self,
        accessor: Accessor<'a>,
        color: impl Fn(C) -> [f32; 4],
    ) -> Result<()> {
        let dimensions = accessor.dimensions();
        let all = self
            .document
            .elements::<C>("COLOR_0", accessor, dimensions)?;
        let unit = |x: f32| {
            if x.is_finite() {
                x.clamp(0.0, 1.0)
            } else {
                1.0
            }
        };
        self.mesh.colors.extend(all.map(|c| color(c).map(unit)));
        Ok(())
    }
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
