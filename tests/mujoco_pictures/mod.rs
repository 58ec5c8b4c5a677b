//! MJCF files as our renderer and MuJoCo's draw them, each with a light fixed to the camera.
//!
//! `TARRAGON_MUJOCO` names a Python program that can import mujoco 3.3 and draw with EGL; without
//! it, this test is skipped. `TARRAGON_MODEL_PICTURES=docs/pictures cargo test --test integration
//! mujoco_pictures` writes the pictures of docs/models.md.

mod documented;
mod skies;

use nalgebra::{Isometry3, Vector3};
use serde_json::json;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tarragon::formats::MjcfSemantics;
use tarragon::geometry::Aabb;
use tarragon::geometry::render::{
    ClippingRange, ColorRenderCamera, DepthRange, RenderCameraCore, look_at, look_at_box,
};
use tarragon::multibody::compute_default_scene_aabb;
use tarragon::prelude::*;
use tarragon::sensors::{EnvironmentMap, ImageDepth32F, ImageRgba8U};

const WIDTH: usize = 320;
const HEIGHT: usize = 240;
/// Vertical field of view (rad).
const FOV_Y: f64 = 0.8;

/// Returns the camera of MuJoCo, whose axis meets the middle of the image. That of
/// [`CameraInfo::from_fov_y`] meets it half a pixel further up and left, as in Drake.
fn camera_info() -> CameraInfo {
    let (width, height) = (WIDTH as f64, HEIGHT as f64);
    let focal = 0.5 * height / (0.5 * FOV_Y).tan();
    CameraInfo::new(WIDTH, HEIGHT, focal, focal, 0.5 * width, 0.5 * height).unwrap()
}

/// A Python process that draws with MuJoCo.
struct Peer {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Folder of the Python packages that hold models.
    packages: PathBuf,
    folder: tempfile::TempDir,
}

/// Colours, without opacity, and depths of a picture, row by row.
struct Picture {
    rgb: Vec<[u8; 3]>,
    depth: Vec<f32>,
}

/// A view of a model.
#[derive(Clone, Copy)]
struct View {
    eye: Vector3<f64>,
    target: Vector3<f64>,
}

impl Peer {
    /// Starts the process; `None` if there is none, which is reported.
    fn start() -> Option<Self> {
        let python: Option<OsString> = std::env::var_os("TARRAGON_MUJOCO");
        let Some(python) = python else {
            let why = "no mujoco (TARRAGON_MUJOCO names a Python that has it)";
            let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mujoco_pictures/peer.py");
        let mut command = Command::new(python);
        command
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // Python packages warn about displays that are not there.
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let mut packages = String::new();
        answers.read_line(&mut packages).unwrap();
        if packages.is_empty() {
            let _ = child.wait();
            let why = "MuJoCo cannot draw here (it needs EGL)";
            let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
            return None;
        }
        Some(Self {
            questions: child.stdin.take().unwrap(),
            answers,
            packages: packages.trim().into(),
            child,
            folder: tempfile::tempdir().unwrap(),
        })
    }

    /// Draws a file without its skybox.
    fn draw(&mut self, file: &Path, view: View) -> std::result::Result<Picture, String> {
        self.ask(file, view, false)
    }
    fn ask(&mut self, file: &Path, view: View, sky: bool) -> std::result::Result<Picture, String> {
        let out = self.folder.path().join("picture");
        let question = json!({
            "file": file, "width": WIDTH, "height": HEIGHT, "fov_y": FOV_Y,
            "eye": view.eye.as_slice(), "target": view.target.as_slice(), "sky": sky, "out": out,
        });
        let mut answer = String::new();
        let asked = writeln!(self.questions, "{question}").and_then(|()| self.questions.flush());
        let read = asked.and_then(|()| self.answers.read_line(&mut answer));
        match (read, answer.trim()) {
            (Ok(_), "done") => {}
            (read, answer) => return Err(format!("{answer} {read:?}")),
        }
        let bytes = std::fs::read(out).unwrap();
        let (rgb, depth) = bytes.split_at(3 * WIDTH * HEIGHT);
        Ok(Picture {
            rgb: rgb.as_chunks::<3>().0.to_vec(),
            depth: depth
                .as_chunks::<4>()
                .0
                .iter()
                .map(|b| f32::from_le_bytes(*b))
                .collect(),
        })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The process ends with its input; if it does not, it must not stay.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A model that was read as by MuJoCo, at its default positions.
struct Model {
    diagram: Diagram<f64>,
    scene: Block<SceneGraph>,
    bounds: Option<Aabb>,
}

impl Model {
    /// Reads a file without its skybox.
    fn read(file: &Path) -> Result<Self> {
        Self::read_with(file, false)
    }
    fn read_with(file: &Path, sky: bool) -> Result<Self> {
        let mut b = DiagramBuilder::new();
        let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001)?, SceneGraph::new());
        plant.register_as_source_for_scene_graph(&mut scene)?;
        let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
        parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        parser.add_models(file)?;
        let skybox = parser.skybox()?.filter(|_| sky);
        let plant = plant.build_with_scene(&mut scene)?;
        let params = RenderEngineCpuParams {
            default_clear_color: Rgba::opaque(0.0, 0.0, 0.0)?,
            environment_map: skybox.map(|skybox| EnvironmentMap {
                lights: false,
                texture: skybox.into(),
                ..EnvironmentMap::default()
            }),
            ..RenderEngineCpuParams::default()
        };
        scene.add_renderer("cpu", RenderEngineCpu::new(params)?)?;
        let bounds = compute_default_scene_aabb(&plant, &scene, Role::Perception)?;
        let (_, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
        let diagram = b.build()?;
        Ok(Self {
            diagram,
            scene,
            bounds,
        })
    }

    /// Returns a view of the whole model along a direction.
    fn view_along(&self, direction: Vector3<f64>) -> View {
        let bounds = self.bounds.expect("the model has visible geometry");
        let x_wc = look_at_box(&bounds, &direction, &camera_info());
        View {
            eye: x_wc.translation.vector,
            target: *bounds.center(),
        }
    }

    fn draw(&self, view: View) -> Picture {
        let ctx = self.diagram.default_context();
        let query = ctx.eval(self.scene.query).unwrap();
        let clipping = ClippingRange::new(0.1, 100.0).unwrap();
        let core = RenderCameraCore::new("cpu", camera_info(), clipping, Isometry3::identity());
        let x_wc = look_at(&view.eye, &view.target);
        let world = query.inspector().world_frame_id();
        let mut color = ImageRgba8U::new(WIDTH, HEIGHT);
        let camera = ColorRenderCamera::from_core(core.clone());
        query
            .render_color_image(&camera, world, &x_wc, &mut color)
            .unwrap();
        let mut depth = ImageDepth32F::new(WIDTH, HEIGHT);
        let range = DepthRange::new(0.1, 99.0).unwrap();
        let camera = DepthRenderCamera::from_core(core, range).unwrap();
        query
            .render_depth_image(&camera, world, &x_wc, &mut depth)
            .unwrap();
        Picture {
            rgb: color
                .data()
                .as_chunks::<4>()
                .0
                .iter()
                .map(|[r, g, b, _]| [*r, *g, *b])
                .collect(),
            depth: depth.data().to_vec(),
        }
    }
}
