//! The scene of a frame as glTF 2.0 text.

use super::buffer::Buffer;
use super::json::{Elements, Numbers};
use super::kind::ImageKind;
use super::material::SentMaterial;
use super::primitive::Primitive;
use super::texture::{EmbeddedImage, SentTexture, wrap_number};
use super::visual::Visuals;
use crate::{Error, Result};
use nalgebra::{Isometry3, Matrix4, Vector4};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use tarragon_geometry::RenderLabel;
use tarragon_geometry::mesh::Wrap;
use tarragon_geometry::render::{RenderCameraCore, RenderView};

/// Beginning of the URI of a buffer.
const URI: &str = "data:application/octet-stream;base64,";
/// glTF's number of linear filtering.
const LINEAR: u16 = 9729;

/// Returns the scene that a camera sees, self-contained: buffers and images are data URIs.
///
/// World coordinates are those of the scene graph (z up). Node `Renderer Node` has all meshes and
/// `Camera Node` as children.
///
/// # Errors
/// Returns an error if a pose is not finite.
pub(super) fn write(
    visuals: &Visuals,
    view: &RenderView<'_>,
    core: &RenderCameraCore,
    kind: ImageKind,
) -> Result<String> {
    let mut scene = SceneText::default();
    for (id, visual) in visuals.last_first() {
        let Some(x_wg) = view.x_wg(id).filter(|_| visual.is_drawn(kind)) else {
            continue;
        };
        let matrix = x_wg.to_homogeneous();
        check_pose(&matrix, || format!("X_WG of geometry {id}"))?;
        for (primitive, material) in &visual.parts {
            scene.add(primitive, material, visual.label, &matrix, kind);
        }
    }
    let x_wc = camera_matrix(&view.x_wc);
    check_pose(&x_wc, || "X_WC of the camera".into())?;
    Ok(scene.finish(&x_wc, core))
}

/// Returns the pose of a glTF camera, which looks along -z with y up, as the pose of the camera
/// frame, which has z forwards and y down.
fn camera_matrix(x_wc: &Isometry3<f64>) -> Matrix4<f64> {
    x_wc.to_homogeneous() * Matrix4::from_diagonal(&Vector4::new(1.0, -1.0, -1.0, 1.0))
}

fn check_pose(matrix: &Matrix4<f64>, what: impl FnOnce() -> String) -> Result<()> {
    if matrix.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the pose {} must be finite, got the matrix {} (column by column)",
        what(),
        Numbers(matrix.as_slice())
    )))
}

/// Arrays of a glTF document that is being written.
#[derive(Default)]
struct SceneText<'a> {
    accessors: Elements,
    buffer_views: Elements,
    /// Buffers, each with one view of the same index.
    buffers: Vec<&'a Buffer>,
    images: Elements,
    materials: Elements,
    meshes: Elements,
    nodes: Elements,
    samplers: Elements,
    textures: Elements,
    known_images: Vec<&'a Arc<EmbeddedImage>>,
    known_textures: Vec<(usize, [Wrap; 2])>,
    extensions: BTreeSet<&'static str>,
}

impl<'a> SceneText<'a> {
    /// Adds a node with a mesh of one primitive.
    fn add(
        &mut self,
        primitive: &'a Primitive,
        material: &'a SentMaterial,
        label: RenderLabel,
        matrix: &Matrix4<f64>,
        kind: ImageKind,
    ) {
        let count = primitive.vertices;
        let [least, most] = &primitive.bounds;
        let position = self.accessor(
            &primitive.position,
            count,
            &format!(
                r#""max":{},"min":{},"type":"VEC3""#,
                Numbers(most),
                Numbers(least)
            ),
        );
        let normal = primitive.normal.as_ref();
        let normal = normal.map(|b| self.accessor(b, count, r#""type":"VEC3""#));
        let uv = primitive.uv.as_ref();
        let uv = uv.map(|b| self.accessor(b, count, r#""normalized":false,"type":"VEC2""#));
        let of_color =
            |buffer: &'a Option<Buffer>| buffer.as_ref().filter(|_| kind == ImageKind::Color);
        let color = of_color(&primitive.color);
        let color = color.map(|b| self.accessor(b, count, r#""type":"VEC4""#));
        let second_uv = of_color(&primitive.second_uv);
        let second_uv = second_uv.map(|b| self.accessor(b, count, r#""type":"VEC2""#));
        let tangent = of_color(&primitive.tangent);
        let tangent = tangent.map(|b| self.accessor(b, count, r#""type":"VEC4""#));
        let index = {
            let view = self.view(&primitive.index, Some(34963));
            self.accessors.push(format_args!(
                r#"{{"bufferView":{view},"byteOffset":0,"componentType":5125,"count":{},"type":"SCALAR"}}"#,
                primitive.indices
            ))
        };
        self.extensions.extend(material.extensions(kind));
        let json = material.json(kind, label, |texture| self.texture(texture));
        let material = self.materials.push(json);

        let mut attributes = Elements::default();
        for (name, accessor) in [
            ("COLOR_0", color),
            ("NORMAL", normal),
            ("POSITION", Some(position)),
            ("TANGENT", tangent),
            ("TEXCOORD_0", uv),
            ("TEXCOORD_1", second_uv),
        ] {
            if let Some(accessor) = accessor {
                attributes.push(format_args!(r#""{name}":{accessor}"#));
            }
        }
        let n = self.meshes.count;
        let mesh = self.meshes.push(format_args!(
            r#"{{"name":"mesh{n}","primitives":[{{"attributes":{{{}}},"indices":{index},"material":{material},"mode":4}}]}}"#,
            attributes.text
        ));
        self.nodes.push(format_args!(
            r#"{{"matrix":{},"mesh":{mesh},"name":"mesh{mesh}"}}"#,
            Numbers(matrix.as_slice())
        ));
    }
    /// Adds a buffer of `f32` vectors; `rest` are further members of the accessor.
    fn accessor(&mut self, buffer: &'a Buffer, count: usize, rest: &str) -> usize {
        let view = self.view(buffer, Some(34962));
        self.accessors.push(format_args!(
            r#"{{"bufferView":{view},"byteOffset":0,"componentType":5126,"count":{count},{rest}}}"#
        ))
    }
    /// Adds a buffer with a view of all its bytes.
    fn view(&mut self, buffer: &'a Buffer, target: Option<u16>) -> usize {
        let index = self.buffers.len();
        self.buffers.push(buffer);
        let target = target.map_or(String::new(), |t| format!(r#","target":{t}"#));
        self.buffer_views.push(format_args!(
            r#"{{"buffer":{index},"byteLength":{},"byteOffset":0{target}}}"#,
            buffer.bytes
        ))
    }
    /// Adds a texture, unless it is known.
    fn texture(&mut self, texture: &'a SentTexture) -> usize {
        let same_image = |known: &&Arc<EmbeddedImage>| Arc::ptr_eq(known, &texture.image);
        let image = match self.known_images.iter().position(same_image) {
            Some(image) => image,
            None => {
                self.known_images.push(&texture.image);
                let view = self.view(&texture.image.buffer, None);
                let mime_type = texture.image.mime_type;
                self.images.push(format_args!(
                    r#"{{"bufferView":{view},"mimeType":"{mime_type}"}}"#
                ))
            }
        };
        let key = (image, texture.wrap);
        if let Some(known) = self.known_textures.iter().position(|t| *t == key) {
            return known;
        }
        self.known_textures.push(key);
        let [u, v] = texture.wrap.map(wrap_number);
        let sampler = self.samplers.push(format_args!(
            r#"{{"magFilter":{LINEAR},"minFilter":{LINEAR},"wrapS":{u},"wrapT":{v}}}"#
        ));
        self.textures
            .push(format_args!(r#"{{"sampler":{sampler},"source":{image}}}"#))
    }

    /// Adds the camera and the root, and returns the whole document.
    fn finish(mut self, x_wc: &Matrix4<f64>, core: &RenderCameraCore) -> String {
        let info = core.intrinsics();
        let children: Vec<usize> = (0..=self.nodes.count).collect();
        self.nodes.push(format_args!(
            r#"{{"camera":0,"matrix":{},"name":"Camera Node"}}"#,
            Numbers(x_wc.as_slice())
        ));
        let root = self.nodes.push(format_args!(
            r#"{{"children":{},"name":"Renderer Node"}}"#,
            Numbers(&children)
        ));
        let base64: usize = self.buffers.iter().map(|b| b.base64.len() + 128).sum();
        let arrays = [
            &self.accessors,
            &self.buffer_views,
            &self.images,
            &self.materials,
            &self.meshes,
            &self.nodes,
            &self.samplers,
            &self.textures,
        ];
        let texts: usize = arrays.iter().map(|a| a.text.len()).sum();
        let mut out = String::with_capacity(base64 + texts + 1024);
        out.push('{');
        array(&mut out, "accessors", &self.accessors);
        out += concat!(
            r#""asset":{"generator":"tarragon "#,
            env!("CARGO_PKG_VERSION"),
            r#"","version":"2.0"},"#
        );
        array(&mut out, "bufferViews", &self.buffer_views);
        for (i, buffer) in self.buffers.iter().enumerate() {
            out += if i == 0 { r#""buffers":["# } else { "," };
            let _ = write!(out, r#"{{"byteLength":{},"uri":"{URI}"#, buffer.bytes);
            out += &buffer.base64;
            out += r#""}"#;
        }
        if !self.buffers.is_empty() {
            out += "],";
        }
        let _ = write!(
            out,
            r#""cameras":[{{"perspective":{{"aspectRatio":{:?},"yfov":{:?},"zfar":{:?},"znear":{:?}}},"type":"perspective"}}],"#,
            info.width() as f64 / info.height() as f64,
            info.fov_y(),
            core.clipping().far(),
            core.clipping().near()
        );
        let mut extensions = Elements::default();
        for name in &self.extensions {
            extensions.push(format_args!(r#""{name}""#));
        }
        array(&mut out, "extensionsUsed", &extensions);
        array(&mut out, "images", &self.images);
        array(&mut out, "materials", &self.materials);
        array(&mut out, "meshes", &self.meshes);
        array(&mut out, "nodes", &self.nodes);
        array(&mut out, "samplers", &self.samplers);
        let _ = write!(
            out,
            r#""scene":0,"scenes":[{{"name":"Layer 0","nodes":[{root}]}}]"#
        );
        if self.textures.count > 0 {
            let _ = write!(out, r#","textures":[{}]"#, self.textures.text);
        }
        out.push('}');
        out
    }
}

/// Appends an array and a comma; glTF forbids empty arrays.
fn array(out: &mut String, name: &str, elements: &Elements) {
    if elements.count > 0 {
        let _ = write!(out, r#""{name}":[{}],"#, elements.text);
    }
}
