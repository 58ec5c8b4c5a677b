//! `tarragon gpu`: lists adapters.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use tarragon::gpu::list_adapters;

/// Writes one adapter per paragraph. Fails if there is none.
pub(crate) fn run() -> Result<ExitCode, Box<dyn Error>> {
    let adapters = list_adapters();
    if adapters.is_empty() {
        return Err("no adapter: install mesa-vulkan-drivers or a GPU driver".into());
    }
    let mut out = std::io::stdout().lock();
    for adapter in adapters {
        writeln!(
            out,
            "{}\n  backend            {}\n  type               {}\n  driver             {}\n  \
             largest image      {} pixels per side\n  largest mesh       {} bytes per buffer\n  \
             largest buffer     {} bytes",
            adapter.name,
            adapter.backend,
            adapter.device_type,
            adapter.driver,
            adapter.max_image_side.min(16_384) / 2,
            adapter.max_storage_bytes,
            adapter.max_buffer_bytes
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
