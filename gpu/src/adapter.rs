//! Adapters: the GPUs and software renderers of this machine.

use std::fmt;
use tarragon_geometry::{Error, Result};

/// An adapter and its limits.
///
/// ```
/// for adapter in tarragon_gpu::list_adapters() {
///     assert!(adapter.max_image_side > 0, "{adapter}");
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AdapterDescription {
    /// Name of the device.
    pub name: String,
    /// Interface through which it is used: `vulkan`, for example.
    pub backend: String,
    /// Kind of the device: `DiscreteGpu`, `IntegratedGpu`, `VirtualGpu`, `Cpu` or `Other`.
    pub device_type: String,
    /// Name and version of the driver.
    pub driver: String,
    /// Maximum side of a texture (pixels).
    pub max_image_side: u32,
    /// Maximum size of a buffer that a shader reads (bytes).
    pub max_storage_bytes: u64,
    /// Maximum size of any buffer (bytes).
    pub max_buffer_bytes: u64,
}

impl AdapterDescription {
    pub(crate) fn of(adapter: &wgpu::Adapter) -> Self {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        Self {
            name: info.name,
            backend: info.backend.to_str().into(),
            device_type: format!("{:?}", info.device_type),
            driver: format!("{} {}", info.driver, info.driver_info)
                .trim()
                .into(),
            max_image_side: limits.max_texture_dimension_2d,
            max_storage_bytes: limits.max_storage_buffer_binding_size,
            max_buffer_bytes: limits.max_buffer_size,
        }
    }
}

impl fmt::Display for AdapterDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}, {}; driver {})",
            self.name, self.backend, self.device_type, self.driver
        )
    }
}

/// Returns the adapters that an engine can use, in the order of the drivers. The environment
/// variable `WGPU_BACKEND` (`vulkan`, `gl`, `metal` or `dx12`) restricts them.
///
/// ```
/// let names: Vec<String> = tarragon_gpu::list_adapters().iter().map(|a| a.to_string()).collect();
/// # let _ = names;
/// ```
pub fn list_adapters() -> Vec<AdapterDescription> {
    adapters().iter().map(AdapterDescription::of).collect()
}

fn adapters() -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::from_env().unwrap_or(wgpu::Backends::PRIMARY);
    if cfg!(feature = "gles") && wgpu::Backends::from_env().is_none() {
        descriptor.backends |= wgpu::Backends::GL;
    }
    let instance = wgpu::Instance::new(descriptor);
    pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()))
}

/// Returns the adapter whose name contains `name` (in any case). Without a name, the environment
/// variable `WGPU_ADAPTER_NAME` chooses, else the most powerful kind of device; a software renderer
/// is chosen only if it is alone.
pub(crate) fn choose(name: Option<&str>) -> Result<wgpu::Adapter> {
    let all = adapters();
    let from_env = std::env::var("WGPU_ADAPTER_NAME").ok();
    let name = name.map(str::to_owned).or(from_env);
    let mut names: Vec<String> = all.iter().map(|a| a.get_info().name).collect();
    let found = match &name {
        Some(name) => {
            let wanted = name.to_lowercase();
            all.into_iter()
                .find(|a| a.get_info().name.to_lowercase().contains(&wanted))
        }
        None => all.into_iter().min_by_key(rank),
    };
    found.ok_or_else(|| {
        names.sort();
        let install = "install mesa-vulkan-drivers or a GPU driver";
        Error::unsupported(match (&name, names.is_empty()) {
            (_, true) => format!("RenderEngineGpu: no adapter: no Vulkan driver; {install}"),
            (Some(name), _) => format!(
                "RenderEngineGpu: adapter must be one of '{}', got '{name}'",
                names.join("', '")
            ),
            (None, _) => format!("RenderEngineGpu: no adapter can be used; {install}"),
        })
    })
}

fn rank(adapter: &wgpu::Adapter) -> u8 {
    match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}
