//! Sites and cameras, which are kept in addition to bodies and joints.

use super::builder::MjcfBuilder;
use super::compiler::z_to;
use super::tree::ElementRef;
use nalgebra::Vector3;
use std::f64::consts::PI;
use tarragon_documents::xml::Parsed;
use tarragon_framework::math;
use tarragon_framework::math::direction;
use tarragon_multibody::{BodyIndex, FixedOffsetFrame, ModelCamera};

const FIELD_OF_VIEW: &str = "the image is defined by 'fovy' and 'resolution'";
const IGNORED_IN_CAMERA: [(&str, &str); 8] = [
    ("focal", FIELD_OF_VIEW),
    ("focalpixel", FIELD_OF_VIEW),
    ("ipd", "stereo cameras are not supported"),
    ("principal", FIELD_OF_VIEW),
    ("principalpixel", FIELD_OF_VIEW),
    ("sensorsize", FIELD_OF_VIEW),
    ("target", "cameras are fixed to their bodies"),
    ("user", "user data is not supported"),
];

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds a site, which is not a frame of the plant, as in Drake. A site without a name is
    /// skipped, because nothing can refer to it.
    pub(super) fn add_site(&mut self, node: ElementRef<'d>, body: BodyIndex) -> Parsed<()> {
        let Some(name) = node.name() else {
            return Ok(());
        };
        let pose = match node.vector::<6>("fromto")? {
            None => self.document.compiler(node).pose(node)?,
            Some([a, b, c, d, e, f]) => {
                let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
                let z = direction(to - from, 1e-10).map(|z| z_to(&z));
                let pose = math::pose(z.unwrap_or_default(), (from + to) / 2.0);
                node.frame().map_or(pose, |frame| frame.pose * pose)
            }
        };
        let site = FixedOffsetFrame::new(name, body, pose).with_model_instance(self.instance);
        let added = self.target.plant.add_site(site);
        added.map_err(|e| node.error(e))?;
        self.sites.insert(name, (body, pose));
        Ok(())
    }

    pub(super) fn add_camera(&mut self, node: ElementRef<'_>, body: BodyIndex) -> Parsed<()> {
        node.ignore_attributes(&IGNORED_IN_CAMERA);
        let number = self.num_cameras;
        self.num_cameras += 1;
        let name = node
            .name()
            .map_or_else(|| format!("camera{number}"), String::from);
        if let Some(mode) = node.text("mode").filter(|m| m.trim() != "fixed") {
            let message = format!(
                "camera '{name}': mode '{mode}' is ignored: the camera is fixed to its body"
            );
            node.warning_at("mode", message);
        }
        let parallel = ["orthographic", "projection"].into_iter().find(|at| {
            let value = node.text(at).map(str::trim);
            matches!(value, Some("true" | "orthographic"))
        });
        if let Some(at) = parallel {
            let message = format!(
                "camera '{name}': orthographic projection is ignored: the projection is perspective"
            );
            node.warning_at(at, message);
        }
        let mut camera = ModelCamera::new(name, self.body_frame(body));
        // MuJoCo's cameras look along -z, with y up.
        let turned = math::pose(math::rotation_x(PI), Vector3::zeros());
        camera.x_fc = self.document.compiler(node).pose(node)? * turned;
        if let Some(fovy) = node.number("fovy")? {
            camera.fov_y = fovy.to_radians();
        }
        if let Some(size) = node.vector::<2>("resolution")? {
            let pixels = |x: f64| x.clamp(0.0, f64::from(u32::MAX)) as u32;
            [camera.width, camera.height] = size.map(pixels);
        }
        if let Some(output) = node.text("output") {
            camera.rgb = output.split_whitespace().any(|o| o == "rgb");
            camera.depth = output.split_whitespace().any(|o| o == "depth");
        }
        let added = self.target.plant.add_model_camera(camera);
        added.map_err(|e| node.error(e))
    }
}
