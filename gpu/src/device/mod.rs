//! The device: connection to an adapter, with everything that draws on it.

pub(crate) mod mesh_data;
pub(crate) mod read_back;
mod texture_data;

use crate::adapter;
use crate::pipelines::Pipelines;
use mesh_data::{MeshBuffers, MeshData};
use read_back::{Slot, Target};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tarragon_geometry::{Error, ErrorKind, Result};

/// Number of read-backs that one batch keeps in flight, and of idle ones that are kept.
pub(crate) const RING: usize = 3;
/// Largest side of the viewport (pixels), so that coordinates in units of 1/256 are exact.
const MOST_SIDE: u32 = 16_384;
/// Number of idle targets that are kept, one per size of an atlas.
const TARGETS: usize = 4;

/// A device, which all copies of an engine share.
pub(crate) struct Device {
    /// Unique number, so that resources of a lost device are not used with its successor.
    pub(crate) generation: u64,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) pipelines: Pipelines,
    pub(crate) limits: wgpu::Limits,
    /// Half the side of the viewport, which is also the largest side of an image (pixels): a power
    /// of two. The viewport is the same for every atlas, so that the conversion of pixels to clip
    /// coordinates and back is exact: an image is the same wherever it is in an atlas.
    pub(crate) side: u32,
    /// Why the device was lost, or what it refused; empty while all is well.
    trouble: Arc<Trouble>,
    /// Buffers for draws without a mesh.
    no_mesh: OnceLock<MeshBuffers>,
    slots: Mutex<Vec<Slot>>,
    targets: Mutex<Vec<Arc<Target>>>,
}

#[derive(Default)]
struct Trouble {
    lost: AtomicBool,
    text: Mutex<Option<String>>,
}

impl Trouble {
    fn set(&self, text: String) {
        let mut now = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        // The first error is the cause of the others.
        now.get_or_insert(text);
    }
    fn take(&self) -> Option<String> {
        let mut now = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        now.take()
    }
}

impl Device {
    /// Connects to the adapter whose name contains `name`.
    fn new(name: Option<&str>) -> Result<Self> {
        static GENERATIONS: AtomicU64 = AtomicU64::new(1);
        let adapter = adapter::choose(name)?;
        let info = adapter.get_info();
        let failed = |what: String| {
            Error::new(
                ErrorKind::Other,
                format!("RenderEngineGpu: adapter '{}': {what}", info.name),
            )
        };
        let offered = adapter.limits();
        let most = offered.max_texture_dimension_2d.min(MOST_SIDE);
        let side = (most / 2 + 1).next_power_of_two() / 2;
        let limits = wgpu::Limits {
            max_texture_dimension_2d: 2 * side,
            // Meshes and textures are as large as the adapter permits.
            max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
            max_buffer_size: offered.max_buffer_size,
            ..wgpu::Limits::default()
        };
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("tarragon"),
            required_limits: limits.clone(),
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|e| failed(e.to_string()))?;
        let trouble = Arc::new(Trouble::default());
        let of_loss = trouble.clone();
        device.set_device_lost_callback(move |reason, text| {
            of_loss.lost.store(true, Ordering::Release);
            of_loss.set(format!("{reason:?}: {text}"));
        });
        let of_errors = trouble.clone();
        device.on_uncaptured_error(Arc::new(move |e: wgpu::Error| of_errors.set(e.to_string())));
        let pipelines = Pipelines::new(&device);
        let made = Self {
            generation: GENERATIONS.fetch_add(1, Ordering::Relaxed),
            pipelines,
            device,
            queue,
            limits,
            side,
            trouble,
            no_mesh: OnceLock::new(),
            slots: Mutex::default(),
            targets: Mutex::default(),
        };
        made.check()?;
        Ok(made)
    }
    fn is_lost(&self) -> bool {
        self.trouble.lost.load(Ordering::Acquire)
    }
    /// Returns an error if the device was lost or refused something since the last call.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.is_lost()
            && self
                .trouble
                .take()
                .map(|text| self.trouble.set(text))
                .is_none()
        {
            return Ok(());
        }
        let text = self.trouble.take().unwrap_or_default();
        let what = if self.is_lost() {
            format!("the device was lost ({text}); the next call starts it again")
        } else {
            text
        };
        Err(Error::new(
            ErrorKind::Other,
            format!("RenderEngineGpu: {what}"),
        ))
    }
    /// Ends the device, as if the driver had lost it.
    pub(crate) fn lose(&self) {
        self.device.destroy();
        let _ = self.device.poll(wgpu::PollType::Poll);
        self.trouble.lost.store(true, Ordering::Release);
    }
    /// Checks the size of a buffer that shaders read.
    ///
    /// # Errors
    /// Returns an error with the size and the limit.
    pub(crate) fn check_storage(&self, what: &str, bytes: usize) -> Result<()> {
        let most = self.limits.max_storage_buffer_binding_size;
        if bytes as u64 <= most {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "RenderEngineGpu: {what} must fit into {most} bytes, the limit of the device for one \
             buffer, got {bytes} bytes; make it smaller, or use RenderEngineCpu"
        )))
    }
    /// Creates a buffer with a content; an empty one holds zeros for one element.
    pub(crate) fn buffer(&self, words: &[u32], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let padding = [0; 32];
        let words = if words.is_empty() { &padding } else { words };
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: (bytes.len() as u64).next_multiple_of(16),
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }
    /// Returns the buffers of a mesh without triangles.
    pub(crate) fn no_mesh(&self) -> &MeshBuffers {
        self.no_mesh
            .get_or_init(|| MeshBuffers::new(self, &MeshData::empty()))
    }
    /// Returns an idle slot of the ring, or a new one.
    pub(crate) fn slot(&self) -> Slot {
        let idle = self
            .slots
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        idle.unwrap_or_default()
    }
    /// Keeps a slot for the next batch.
    pub(crate) fn keep(&self, slot: Slot) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() < RING {
            slots.push(slot);
        }
    }
    /// Returns the textures of an atlas of this size.
    pub(crate) fn target(&self, width: u32, height: u32) -> Arc<Target> {
        let mut targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        let found = targets.iter().position(|t| t.size == [width, height]);
        let target = match found {
            Some(k) => targets.remove(k),
            None => Arc::new(Target::new(&self.device, width, height)),
        };
        // The most recently used one is last.
        targets.push(target.clone());
        if targets.len() > TARGETS {
            targets.remove(0);
        }
        target
    }
}

/// The present device of an engine and its copies; a lost one is replaced.
pub(crate) struct CurrentDevice {
    adapter: Option<String>,
    now: Mutex<Arc<Device>>,
}

impl CurrentDevice {
    pub(crate) fn new(adapter: Option<&str>) -> Result<Self> {
        Ok(Self {
            adapter: adapter.map(str::to_owned),
            now: Mutex::new(Arc::new(Device::new(adapter)?)),
        })
    }
    /// Returns the device; starts another one if it was lost.
    pub(crate) fn get(&self) -> Result<Arc<Device>> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now.is_lost() {
            *now = Arc::new(Device::new(self.adapter.as_deref())?);
        }
        Ok(now.clone())
    }
    /// Returns the device, lost or not.
    pub(crate) fn last(&self) -> Arc<Device> {
        self.now
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
