//! Pipelines for shapes, meshes and backgrounds, by the images that they draw.

use crate::shader_source::shader_source;
use std::sync::OnceLock;

pub(crate) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
pub(crate) const Z: wgpu::TextureFormat = wgpu::TextureFormat::R32Float;
pub(crate) const LABEL: wgpu::TextureFormat = wgpu::TextureFormat::R16Sint;
pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// The images that a pass draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outputs {
    pub(crate) color: bool,
    pub(crate) depth: bool,
    pub(crate) label: bool,
}

impl Outputs {
    fn index(self) -> usize {
        usize::from(self.color) | usize::from(self.depth) << 1 | usize::from(self.label) << 2
    }
}

/// Kind of a draw call.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Primitive,
    Mesh,
    Background,
}

/// All pipelines, each created when it is first needed.
pub(crate) struct Pipelines {
    pub(crate) frame: wgpu::BindGroupLayout,
    pub(crate) mesh: wgpu::BindGroupLayout,
    shaders: wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
    made: [[OnceLock<wgpu::RenderPipeline>; 8]; 3],
}

fn storage(binding: u32) -> wgpu::BindGroupLayoutEntry {
    entry(
        binding,
        wgpu::BufferBindingType::Storage { read_only: true },
    )
}

fn entry(binding: u32, ty: wgpu::BufferBindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}

/// Only the fragment shader reads it.
fn fragment(mut entry: wgpu::BindGroupLayoutEntry) -> wgpu::BindGroupLayoutEntry {
    entry.visibility = wgpu::ShaderStages::FRAGMENT;
    entry
}

impl Pipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let uniform = wgpu::BufferBindingType::Uniform;
        let frame = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("frame"),
            entries: &[
                entry(0, uniform),
                storage(1),
                storage(2),
                fragment(storage(3)),
                fragment(storage(4)),
            ],
        });
        let mesh = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("mesh"),
            entries: &[
                storage(0),
                fragment(storage(1)),
                fragment(storage(2)),
                fragment(storage(3)),
            ],
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("tarragon"),
            bind_group_layouts: &[Some(&frame), Some(&mesh)],
            immediate_size: 0,
        });
        let shaders = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("tarragon"),
            source: wgpu::ShaderSource::Wgsl(shader_source().into()),
        });
        Self {
            frame,
            mesh,
            shaders,
            layout,
            made: Default::default(),
        }
    }

    pub(crate) fn get(
        &self,
        device: &wgpu::Device,
        kind: Kind,
        outputs: Outputs,
    ) -> &wgpu::RenderPipeline {
        self.made[kind as usize][outputs.index()].get_or_init(|| self.make(device, kind, outputs))
    }

    fn make(&self, device: &wgpu::Device, kind: Kind, outputs: Outputs) -> wgpu::RenderPipeline {
        let background = matches!(kind, Kind::Background);
        let names = match kind {
            Kind::Primitive => ["primitive_vertex", "primitive_fragment"],
            Kind::Mesh => ["mesh_vertex", "mesh_fragment"],
            Kind::Background => ["background_vertex", "background_fragment"],
        };
        let target = |drawn: bool, format, written: bool| {
            drawn.then(|| wgpu::ColorTargetState {
                format,
                blend: None,
                write_mask: if written {
                    wgpu::ColorWrites::ALL
                } else {
                    wgpu::ColorWrites::empty()
                },
            })
        };
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(names[0]),
            layout: Some(&self.layout),
            vertex: wgpu::VertexState {
                module: &self.shaders,
                entry_point: Some(names[0]),
                compilation_options: Default::default(),
                buffers: &[],
            },
            // Both sides of every surface are drawn.
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(!background),
                // The nearer surface is greater; at equal depth, the first one wins.
                depth_compare: Some(if background {
                    wgpu::CompareFunction::Always
                } else {
                    wgpu::CompareFunction::Greater
                }),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &self.shaders,
                entry_point: Some(names[1]),
                compilation_options: Default::default(),
                targets: &[
                    target(outputs.color, COLOR, true),
                    target(outputs.depth, Z, !background),
                    target(outputs.label, LABEL, !background),
                ],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}
