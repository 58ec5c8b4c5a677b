//! Scenes: what a glTF document shows where.

mod build;
mod content;
mod document;
mod normals;
mod pose;
mod primitive;

pub(crate) use build::Drawable;

use crate::form::{ImageType, RenderRequest};
use crate::refusal::Refusal;
use content::ContentHash;
use document::{Document, missing};
use nalgebra::{Isometry3, Matrix3, Matrix4, Vector4};
use pose::Placement;
use serde_json::Value;
use tarragon_geometry::RenderLabel;

/// Name of the node below which Drake places the camera and all shapes that are not glTF files.
const RENDERER_NODE: &str = "Renderer Node";
/// Name of the camera's node.
const CAMERA_NODE: &str = "Camera Node";

/// Identity of a mesh with its appearance; equal ones are drawn alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PartKey {
    content: ContentHash,
    look: Look,
    stretch: Option<[i64; 10]>,
    /// True if the sender may have left out normals that the mesh had.
    lacks_normals: bool,
}

/// Features of a material that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Look {
    /// Colour and texture, matt.
    Matt,
    /// glTF's metallic-roughness model.
    MetallicRoughness,
    /// Nothing: for depth images.
    None,
    /// The label: for label images.
    Label(RenderLabel),
}

/// One primitive of a mesh at one place.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) key: PartKey,
    pub(crate) x_wg: Isometry3<f64>,
    /// Index of the mesh in the document, and of the primitive in the mesh.
    place: (usize, usize),
    /// Applied to the vertices.
    stretch: Option<Matrix3<f64>>,
    /// Base colour of the material as it is in the document.
    base_color: [f64; 4],
}

/// Content of one image.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) x_wc: Isometry3<f64>,
    pub(crate) parts: Vec<Part>,
}

impl Scene {
    /// Reads the document of a request, all but its buffers and images.
    pub(crate) fn read(request: &RenderRequest, max_triangles: usize) -> Result<Self, Refusal> {
        let document = Document::read(&request.scene)?;
        let mut reader = Reader {
            contents: content::Contents::new(&document),
            document: &document,
            image_type: request.camera.image_type(),
            camera: None,
            parts: Vec::new(),
            triangles: 0,
            max_triangles,
        };
        reader.read_nodes()?;
        let (_, x_wn) = reader.camera.ok_or_else(|| {
            Refusal::bad("scene: a node must have a camera, which tells where the image is taken")
        })?;
        // A camera of glTF looks along its -z with y up.
        let x_wc = x_wn * Matrix4::from_diagonal(&Vector4::new(1.0, -1.0, -1.0, 1.0));
        let x_wc = Placement::of(&x_wc);
        if x_wc.stretch.is_some() {
            return Err(Refusal::bad(
                "scene: the camera must be placed by a rotation and a translation, got a scale",
            ));
        }
        Ok(Self {
            x_wc: x_wc.pose,
            parts: reader.parts,
        })
    }
}

struct Reader<'a> {
    document: &'a Document<'a>,
    contents: content::Contents<'a>,
    image_type: ImageType,
    /// Transformation of the camera's node, and whether it has the name of Drake's.
    camera: Option<(bool, Matrix4<f64>)>,
    parts: Vec<Part>,
    /// Number of triangles of the parts.
    triangles: usize,
    max_triangles: usize,
}

impl Reader<'_> {
    /// Visits all nodes of the scene. Iterative, because chains of nodes may be long.
    fn read_nodes(&mut self) -> Result<(), Refusal> {
        let nodes = &self.document.nodes;
        let mut seen = vec![false; nodes.len()];
        let roots = self.document.roots()?;
        let mut open: Vec<(usize, Matrix4<f64>, bool)> = Vec::new();
        open.extend(roots.iter().rev().map(|i| (*i, Matrix4::identity(), false)));
        while let Some((i, x_wp, below)) = open.pop() {
            let node = nodes.get(i).ok_or_else(|| missing("nodes", i))?;
            if std::mem::replace(&mut seen[i], true) {
                return Err(Refusal::bad(format!(
                    "scene: the nodes must form a tree, but nodes[{i}] has two parents or is its own \
                     descendant"
                )));
            }
            let x_wn = x_wp * node.transform(i)?;
            let below = below || node.name == RENDERER_NODE;
            if let Some(mesh) = node.mesh {
                self.add_mesh(mesh, &x_wn, below)?;
            }
            if node.camera.is_some() {
                let is_drakes = node.name == CAMERA_NODE;
                if self.camera.is_none_or(|(other, _)| is_drakes && !other) {
                    self.camera = Some((is_drakes, x_wn));
                }
            }
            open.extend(
                node.children
                    .iter()
                    .rev()
                    .map(|child| (*child, x_wn, below)),
            );
        }
        Ok(())
    }

    fn add_mesh(&mut self, index: usize, x_wn: &Matrix4<f64>, below: bool) -> Result<(), Refusal> {
        let mesh = self.document.meshes.get(index);
        let mesh = mesh.ok_or_else(|| missing("meshes", index))?;
        let placement = Placement::of(x_wn);
        for (p, primitive) in mesh.primitives.iter().enumerate() {
            // Points and lines are not drawn.
            if primitive.mode < 4 {
                continue;
            }
            self.count(primitive)?;
            let material = match primitive.material {
                Some(m) => {
                    let found = self.document.materials.get(m);
                    Some(found.ok_or_else(|| missing("materials", m))?)
                }
                None => None,
            };
            let place = format!("meshes[{index}].primitives[{p}]");
            let has_normals = primitive.attributes.contains_key("NORMAL");
            let is_matt = below && (!has_normals || is_declared_matt(material));
            let look = match self.image_type {
                ImageType::Color if is_matt => Look::Matt,
                ImageType::Color => Look::MetallicRoughness,
                ImageType::Depth => Look::None,
                ImageType::Label => match label(material, &place)? {
                    Some(label) => Look::Label(label),
                    None => continue,
                },
            };
            let with_material = self.image_type == ImageType::Color;
            let content = self
                .contents
                .of(primitive, with_material.then_some(material))?;
            self.parts.push(Part {
                key: PartKey {
                    content,
                    look,
                    stretch: placement.stretch_key(),
                    lacks_normals: below && !has_normals,
                },
                x_wg: placement.pose,
                place: (index, p),
                stretch: placement.stretch,
                base_color: base_color(material),
            });
        }
        Ok(())
    }

    fn count(&mut self, primitive: &document::Primitive) -> Result<(), Refusal> {
        let accessor = primitive
            .indices
            .or(primitive.attributes.get("POSITION").copied());
        let accessor = accessor.and_then(|i| self.document.accessors.get(i));
        self.triangles = self
            .triangles
            .saturating_add(accessor.map_or(0, |a| a.count) / 3);
        if self.triangles > self.max_triangles {
            return Err(Refusal::too_large(format!(
                "scene: it must have at most {} triangles, counted at every node, got more; start the \
                 server with a larger --max-triangles, or simplify the meshes",
                self.max_triangles
            )));
        }
        Ok(())
    }
}

/// Returns true if the material says that it is matt although its mesh has normals, as the client
/// of this workspace does.
fn is_declared_matt(material: Option<&Value>) -> bool {
    let extras = material.and_then(|m| m.get("extras"));
    extras.and_then(|e| e.get("shading")) == Some(&Value::from("matt"))
}

/// Returns the base colour of a material as it is in the document.
fn base_color(material: Option<&Value>) -> [f64; 4] {
    let factor = material.and_then(|m| m.get("pbrMetallicRoughness")?.get("baseColorFactor"));
    let channel = |k: usize| factor.and_then(|f| f.get(k)?.as_f64());
    [0, 1, 2, 3].map(|k| channel(k).unwrap_or(1.0).clamp(0.0, 1.0))
}

/// Returns the label that a material's colour stands for: red plus 256 times green, white for
/// [`RenderLabel::DONT_CARE`]. `None` if the geometry must not be drawn.
fn label(material: Option<&Value>, place: &str) -> Result<Option<RenderLabel>, Refusal> {
    let byte = |x: f64| (255.0 * x).round() as i32;
    let [r, g, b, _] = base_color(material).map(byte);
    if (r, g, b) == (255, 255, 255) {
        return Ok(Some(RenderLabel::DONT_CARE));
    }
    let value = r + 256 * g;
    for reserved in [RenderLabel::DONT_CARE, RenderLabel::DO_NOT_RENDER] {
        if value == i32::from(reserved.value()) {
            return Ok((reserved != RenderLabel::DO_NOT_RENDER).then_some(reserved));
        }
    }
    let label = i16::try_from(value)
        .ok()
        .and_then(|v| RenderLabel::new(v).ok());
    label.map(Some).ok_or_else(|| {
        Refusal::bad(format!(
            "scene: {place}: the colour must be that of a label below 32764, got ({r}, {g}, {b}), \
             which is {value}"
        ))
    })
}
