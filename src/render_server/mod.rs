//! `tarragon render-server`: serves images by Drake's glTF render protocol.

use crate::render::Engine;
use crate::stop::Stop;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tarragon::geometry::render::{RenderEngine, RenderEngineCpu, RenderEngineCpuParams};
use tarragon::render_server::{RenderServer, RenderServerParams};
use tarragon::sensors::CameraConfig;

/// Time between two looks at the signals.
const PERIOD: Duration = Duration::from_millis(20);
/// Time between two lines of statistics.
const STATS_PERIOD: Duration = Duration::from_secs(10);

/// Arguments of `tarragon render-server`.
#[derive(clap::Args)]
pub(crate) struct RenderServerArgs {
    /// Port to listen on; 0 chooses any free port.
    #[arg(long, default_value_t = 8000)]
    port: u16,
    /// Host to listen on; with `*`, all computers of the network can send scenes.
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Path of requests, `render_endpoint` of the clients.
    #[arg(long, default_value = "render")]
    endpoint: String,
    /// Render engine.
    #[arg(long, value_enum, default_value_t = Engine::Cpu)]
    engine: Engine,
    /// Lights, background, environment and exposure, which the protocol does not have, as a YAML
    /// file with `renderer_class: !RenderEngineVtkParams {...}`, as in Drake's `CameraConfig`.
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// Maximum size of a request (MiB).
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    max_request_mib: u32,
    /// Maximum number of pixels of an image.
    #[arg(long, default_value_t = 1 << 26, value_parser = clap::value_parser!(u32).range(1..))]
    max_pixels: u32,
    /// Maximum number of triangles of a scene.
    #[arg(long, default_value_t = 1 << 22, value_parser = clap::value_parser!(u32).range(1..))]
    max_triangles: u32,
    /// Memory for meshes and textures that are kept for later requests (MiB).
    #[arg(long, default_value_t = 1024)]
    cache_mib: u32,
    /// Draws the triangles of spheres, boxes and other primitives as they are sent, not the exact
    /// shapes.
    #[arg(long)]
    tessellated: bool,
    /// Prints counts and times to standard error every ten seconds and at the end.
    #[arg(long)]
    stats: bool,
}

/// Serves until Ctrl-C.
pub(crate) fn run(args: &RenderServerArgs) -> Result<ExitCode, Box<dyn Error>> {
    let stop = Stop::listen()?;
    let params = RenderServerParams {
        host: args.host.clone(),
        port: args.port,
        endpoint: args.endpoint.clone(),
        max_request_bytes: (args.max_request_mib as usize) << 20,
        max_pixels: args.max_pixels as usize,
        max_triangles: args.max_triangles as usize,
        cache_bytes: (args.cache_mib as usize) << 20,
        exact_primitives: !args.tessellated,
        ..RenderServerParams::default()
    };
    let server = RenderServer::start(params, engine(args)?)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", server.url())?;
    out.flush()?;
    let (mut last, mut printed) = (Instant::now(), server.stats());
    while !stop.is_asked() {
        std::thread::sleep(PERIOD);
        if args.stats && last.elapsed() >= STATS_PERIOD {
            last = Instant::now();
            let stats = server.stats();
            if stats != printed {
                eprintln!("{stats}");
            }
            printed = stats;
        }
    }
    let stats = server.stop();
    if args.stats {
        eprintln!("{stats}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Creates the engine that draws.
fn engine(args: &RenderServerArgs) -> Result<Box<dyn RenderEngine>, Box<dyn Error>> {
    let params = match &args.params {
        Some(path) => {
            let config = CameraConfig::from_yaml_file(path)?;
            let background = RenderEngineCpuParams::default().default_clear_color;
            let params = config.renderer_class.to_cpu_params(background);
            params.map_err(|e| e.at(path.display()))?
        }
        None => RenderEngineCpuParams::default(),
    };
    match args.engine {
        Engine::Cpu => Ok(Box::new(RenderEngineCpu::new(params)?)),
        Engine::Gpu => gpu_engine(&params),
    }
}

#[cfg(feature = "gpu")]
fn gpu_engine(params: &RenderEngineCpuParams) -> Result<Box<dyn RenderEngine>, Box<dyn Error>> {
    use tarragon::geometry::render::RenderEngineGpuParams;
    use tarragon::gpu::RenderEngineGpu;
    Ok(Box::new(RenderEngineGpu::new(
        RenderEngineGpuParams::from(params),
    )?))
}

#[cfg(not(feature = "gpu"))]
fn gpu_engine(_: &RenderEngineCpuParams) -> Result<Box<dyn RenderEngine>, Box<dyn Error>> {
    Err(crate::render::NO_GPU.into())
}
