//! Drawing of one atlas: commands from data.

pub(crate) mod frame_data;
pub(crate) mod visuals;

use crate::device::Device;
use crate::device::mesh_data::MeshBuffers;
use crate::device::read_back::{Layout, ReadBack, Target};
use crate::pipelines::{Kind, Outputs};
use crate::shader_source::Background;
use frame_data::AtlasData;
use std::sync::Arc;
use tarragon_geometry::render::appearance::ToneCurve;
use tarragon_geometry::{RenderLabel, Result, Rgba};

/// Side of an atlas (pixels), unless one image is larger. Chosen so that the three read-backs of a
/// batch take at most about 130 MB.
pub(crate) const ATLAS: usize = 2048;

/// Words of the uniform `globals`.
#[derive(Clone, Copy)]
pub(crate) struct Globals {
    pub(crate) shade: bool,
    pub(crate) environment: bool,
    pub(crate) background: Background,
    pub(crate) cut_masks: bool,
    pub(crate) tone: Option<ToneCurve>,
    pub(crate) clear: Rgba,
}

impl Globals {
    fn words(&self, lights: u32, guard: [f32; 2], side: u32) -> Vec<u32> {
        let mut words = guard.map(f32::to_bits).to_vec();
        words.extend([(1.0 / side as f32).to_bits(), lights]);
        words.extend([self.shade, self.environment].map(u32::from));
        words.extend([self.background as u32, u32::from(self.cut_masks)]);
        let curve = self.tone.map_or([0.0; 4], |t| [t.exposure, t.b, t.c, 1.0]);
        let clear = self.clear.rgba().map(|c| c as f32);
        words.extend(curve.iter().chain(&clear).map(|x| x.to_bits()));
        words
    }
    /// Returns true if the background is more than the clear colour.
    fn has_background(&self) -> bool {
        self.shade && (self.background != Background::Clear || self.tone.is_some())
    }
}

/// An atlas of images of one size.
pub(crate) struct Atlas<'a> {
    pub(crate) data: &'a AtlasData,
    pub(crate) globals: Globals,
    pub(crate) outputs: Outputs,
    /// Size of an image (pixels), and number of images per row.
    pub(crate) tile: (usize, usize),
    pub(crate) columns: usize,
    /// The environment's buffer, or an empty one.
    pub(crate) sky: &'a wgpu::Buffer,
    /// Size of the textures (pixels).
    pub(crate) size: (usize, usize),
}

impl Atlas<'_> {
    /// Returns the size of the part that has images.
    pub(crate) fn used(&self) -> (usize, usize) {
        let n = self.data.draws.len();
        (
            self.columns.min(n) * self.tile.0,
            n.div_ceil(self.columns) * self.tile.1,
        )
    }
    /// Submits all commands.
    ///
    /// # Errors
    /// Returns an error if the data are too large for the device.
    pub(crate) fn submit(&self, device: &Device) -> Result<(Layout, ReadBack)> {
        let data = self.data;
        device.check_storage("the visuals of an image", 4 * data.instances.len())?;
        let storage = wgpu::BufferUsages::STORAGE;
        // An image at the far end of the atlas has less space to the end of the viewport.
        let side = device.side;
        let guard = [self.tile.0, self.tile.1].map(|n| {
            if n > ATLAS {
                side as f32
            } else {
                side as f32 - ATLAS as f32
            }
        });
        let globals = self.globals.words(data.lights_per_tile, guard, side);
        let buffers = [
            device.buffer(&globals, wgpu::BufferUsages::UNIFORM),
            device.buffer(&data.tiles, storage),
            device.buffer(&data.instances, storage),
            device.buffer(&data.lights, storage),
        ];
        let entries: Vec<_> = (0..)
            .zip(buffers.iter().chain([self.sky]))
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let frame = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("frame"),
            layout: &device.pipelines.frame,
            entries: &entries,
        });
        let target = device.target(self.size.0 as u32, self.size.1 as u32);
        let mut encoder = device.device.create_command_encoder(&Default::default());
        self.draw(device, &mut encoder, &target, &frame);
        let (width, height) = self.used();
        let layout = Layout::new(self.outputs, width, height);
        let mut slot = device.slot();
        slot.copy(device, &mut encoder, &target, &layout, (width, height));
        Ok((layout, slot.submit(device, encoder.finish())))
    }

    fn draw(
        &self,
        device: &Device,
        encoder: &mut wgpu::CommandEncoder,
        target: &Target,
        frame: &wgpu::BindGroup,
    ) {
        let [color, z, label, depth] = [&target.color, &target.z, &target.label, &target.depth]
            .map(|texture| texture.create_view(&Default::default()));
        let [r, g, b, a] = self.globals.clear.rgba();
        // The host turns a depth of 0, which no surface has, into infinity.
        let empty = wgpu::Color {
            r: f64::from(RenderLabel::EMPTY.value()),
            ..wgpu::Color::TRANSPARENT
        };
        let attached = |drawn: bool, view, clear| {
            drawn.then_some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(clear),
                    store: wgpu::StoreOp::Store,
                },
            })
        };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: None,
            color_attachments: &[
                attached(self.outputs.color, &color, wgpu::Color { r, g, b, a }),
                attached(self.outputs.depth, &z, wgpu::Color::TRANSPARENT),
                attached(self.outputs.label, &label, empty),
            ],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(0.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        let side = device.side as f32;
        pass.set_viewport(-side, -side, 2.0 * side, 2.0 * side, 0.0, 1.0);
        pass.set_bind_group(0, frame, &[]);
        let pipeline = |kind| device.pipelines.get(&device.device, kind, self.outputs);
        let none = device.no_mesh();
        pass.set_bind_group(1, &none.group, &[]);
        let tiles = self.data.draws.len() as u32;
        if self.globals.has_background() {
            pass.set_pipeline(pipeline(Kind::Background));
            pass.draw(0..6, 0..tiles);
        }
        let meshes = self.data.draws.iter().flatten().any(|d| d.mesh.is_some());
        if !meshes {
            // Shapes stay within the rectangles of their tiles.
            let instances = self.data.instances.len() / frame_data::INSTANCE;
            pass.set_pipeline(pipeline(Kind::Primitive));
            pass.draw(0..6, 0..instances as u32);
            return;
        }
        // Keeps the buffers alive until the commands are recorded.
        let mut used: Vec<Arc<MeshBuffers>> = Vec::new();
        for (k, draws) in self.data.draws.iter().enumerate() {
            let (width, height) = self.tile;
            let (x, y) = (k % self.columns * width, k / self.columns * height);
            pass.set_scissor_rect(x as u32, y as u32, width as u32, height as u32);
            for draw in draws {
                let instances = draw.first..draw.first + draw.count;
                match &draw.mesh {
                    Some(mesh) => {
                        let buffers = mesh.on(device);
                        pass.set_pipeline(pipeline(Kind::Mesh));
                        pass.set_bind_group(1, &buffers.group, &[]);
                        pass.draw(0..3 * mesh.data.triangles, instances);
                        used.push(buffers);
                    }
                    None => {
                        pass.set_pipeline(pipeline(Kind::Primitive));
                        pass.draw(0..6, instances);
                    }
                }
            }
        }
    }
}
