//! Meshes of a Collada document.

use super::document::{DaeDocument, child, children, words};
use crate::error::Result;
use crate::error::short;
use crate::mesh::triangulate::{fan, strip, triangulate};
use nalgebra::{Point3, Vector3};
use roxmltree::{Node, NodeId};
use std::collections::HashMap;
use tarragon_framework::counted;

/// Largest supported offset of an input; real files stay far below it.
const MAX_OFFSET: usize = 63;

/// Mesh of a `<geometry>`, in its own coordinates.
#[derive(Default)]
pub(super) struct DaeGeometry<'x> {
    pub(super) positions: Vec<Vector3<f64>>,
    /// Normals as written in the file, of any length.
    pub(super) normals: Vec<Vector3<f64>>,
    pub(super) uvs: Vec<[f64; 2]>,
    pub(super) parts: Vec<MaterialTriangles<'x>>,
}

/// Triangles with the same material.
pub(super) struct MaterialTriangles<'x> {
    /// Symbol to which instances bind a material.
    pub(super) material: Option<&'x str>,
    pub(super) triangles: Vec<[CornerIndices; 3]>,
}

/// Indices of one corner of a triangle.
#[derive(Clone, Copy)]
pub(super) struct CornerIndices {
    pub(super) position: u32,
    pub(super) normal: Option<u32>,
    pub(super) uv: Option<u32>,
}

impl<'x> DaeGeometry<'x> {
    /// Reads a `<geometry>`. The result is empty if it has no `<mesh>`.
    pub(super) fn read(document: &DaeDocument<'x>, geometry: Node<'x, 'x>) -> Result<Self> {
        let Some(mesh) = child(geometry, &["mesh"]) else {
            document.warn(
                geometry,
                "geometry without a <mesh> is not supported; it is left out",
            );
            return Ok(Self::default());
        };
        let mut reader = GeometryReader {
            document,
            geometry: Self::default(),
            pools: [HashMap::new(), HashMap::new(), HashMap::new()],
        };
        for element in mesh.children().filter(Node::is_element) {
            let kind = match element.tag_name().name() {
                "triangles" => PrimitiveKind::Triangles,
                "polylist" => PrimitiveKind::Polylist,
                "polygons" => PrimitiveKind::Polygons,
                "trifans" => PrimitiveKind::Fans,
                "tristrips" => PrimitiveKind::Strips,
                _ => continue,
            };
            let part = reader.part(element, kind)?;
            reader.geometry.parts.push(part);
        }
        Ok(reader.geometry)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum PrimitiveKind {
    Triangles,
    Polylist,
    Polygons,
    Fans,
    Strips,
}

/// Kind of data that the indices of an input refer to.
#[derive(Clone, Copy, PartialEq)]
enum InputSemantic {
    Position,
    Normal,
    Uv,
}

/// Range of a source's elements among all elements of its kind.
#[derive(Clone, Copy)]
struct SourceSpan {
    base: u32,
    count: u32,
}

/// Position of an input among the indices of a corner, and the elements that it refers to.
#[derive(Clone, Copy)]
struct InputOffset {
    offset: usize,
    span: SourceSpan,
}

/// Inputs of a primitive.
struct PrimitiveInputs {
    /// Indices per corner.
    stride: usize,
    position: InputOffset,
    normal: Option<InputOffset>,
    uv: Option<InputOffset>,
}

struct GeometryReader<'d, 'x> {
    document: &'d DaeDocument<'x>,
    geometry: DaeGeometry<'x>,
    /// Sources of positions, normals and texture coordinates read so far.
    pools: [HashMap<NodeId, SourceSpan>; 3],
}

impl<'x> GeometryReader<'_, 'x> {
    fn part(
        &mut self,
        primitive: Node<'x, 'x>,
        kind: PrimitiveKind,
    ) -> Result<MaterialTriangles<'x>> {
        let mut part = MaterialTriangles {
            material: primitive.attribute("material"),
            triangles: vec![],
        };
        let mut lists: Vec<Node<'x, 'x>> = children(primitive, "p").collect();
        for with_holes in children(primitive, "ph") {
            let at = with_holes;
            self.document.warn(at, "holes of polygons are filled");
            lists.extend(child(with_holes, &["p"]));
        }
        let mut inputs = None;
        for list in lists.into_iter().filter(|p| words(*p).next().is_some()) {
            // Inputs are read late, because empty primitives may have none.
            let inputs = match &inputs {
                Some(inputs) => inputs,
                None => inputs.insert(self.inputs(primitive)?),
            };
            let corners = self.corners(inputs, list)?;
            self.triangles(primitive, kind, list, &corners, &mut part.triangles)?;
        }
        Ok(part)
    }

    fn triangles(
        &self,
        primitive: Node<'x, 'x>,
        kind: PrimitiveKind,
        list: Node<'x, 'x>,
        corners: &[CornerIndices],
        triangles: &mut Vec<[CornerIndices; 3]>,
    ) -> Result<()> {
        let n = corners.len();
        let wrong = |expected: &str| {
            let message = format!("<p>: number of corners must be {expected}, got {n}");
            Err(self.document.error(list, message))
        };
        let mut pieces = vec![];
        let mut points = vec![];
        let mut polygon = |corners: &[CornerIndices], triangles: &mut Vec<[CornerIndices; 3]>| {
            let at = |c: &CornerIndices| Point3::from(self.geometry.positions[c.position as usize]);
            points.clear();
            points.extend(corners.iter().map(at));
            triangulate(&points, &mut pieces);
            triangles.extend(pieces.iter().map(|t| t.map(|k| corners[k])));
        };
        match kind {
            PrimitiveKind::Triangles if !n.is_multiple_of(3) => {
                return wrong("a multiple of three");
            }
            PrimitiveKind::Triangles => {
                triangles.extend(corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]));
            }
            PrimitiveKind::Fans => triangles.extend(fan(n).map(|t| t.map(|k| corners[k]))),
            PrimitiveKind::Strips => {
                // Degenerate triangles stitch strips together.
                let strip = strip(n).map(|t| t.map(|k| corners[k]));
                triangles.extend(strip.filter(|[a, b, c]| {
                    a.position != b.position && b.position != c.position && c.position != a.position
                }));
            }
            PrimitiveKind::Polygons => polygon(corners, triangles),
            PrimitiveKind::Polylist => {
                let Some(counts) = child(primitive, &["vcount"]) else {
                    return Err(self
                        .document
                        .error(primitive, "<polylist> must have a <vcount>"));
                };
                let mut rest = corners;
                for word in words(counts) {
                    let count: usize = word.parse().map_err(|_| self.no_index(counts, word))?;
                    let Some((face, others)) = rest.split_at_checked(count) else {
                        return wrong("the sum of <vcount>, which is larger");
                    };
                    polygon(face, triangles);
                    rest = others;
                }
                if !rest.is_empty() {
                    return wrong(&format!("{} by <vcount>", n - rest.len()));
                }
            }
        }
        Ok(())
    }

    /// Reads the corners from a list of indices.
    fn corners(&self, inputs: &PrimitiveInputs, list: Node<'x, 'x>) -> Result<Vec<CornerIndices>> {
        let mut corners = vec![];
        let mut indices = [0u32; MAX_OFFSET + 1];
        let mut words = words(list);
        loop {
            for (k, index) in indices.iter_mut().enumerate().take(inputs.stride) {
                let Some(word) = words.next() else {
                    return match k {
                        0 => Ok(corners),
                        _ => Err(self.document.error(
                            list,
                            format!(
                                "<p> must not end within a corner of {} indices",
                                inputs.stride
                            ),
                        )),
                    };
                };
                *index = word.parse().map_err(|_| self.no_index(list, word))?;
            }
            let find = |input: &InputOffset, what| self.find(list, &indices, input, what);
            let optional = |input: &Option<InputOffset>, what| {
                input.as_ref().map(|input| find(input, what)).transpose()
            };
            corners.push(CornerIndices {
                position: find(&inputs.position, "vertex")?,
                normal: optional(&inputs.normal, "normal")?,
                uv: optional(&inputs.uv, "texture coordinate")?,
            });
        }
    }

    fn find(
        &self,
        list: Node<'x, 'x>,
        indices: &[u32],
        input: &InputOffset,
        what: &str,
    ) -> Result<u32> {
        let index = indices[input.offset];
        if index < input.span.count {
            return Ok(input.span.base + index);
        }
        Err(self.document.error(
            list,
            format!(
                "<p>: index of a {what} must be below {}, got {index}",
                input.span.count
            ),
        ))
    }

    fn no_index(&self, at: Node<'x, 'x>, word: &str) -> crate::error::Error {
        let tag = at.tag_name().name();
        let word = short(word);
        self.document.error(
            at,
            format!("<{tag}> must have whole numbers from 0 on, got '{word}'"),
        )
    }

    /// Reads the inputs of a primitive and their sources.
    fn inputs(&mut self, primitive: Node<'x, 'x>) -> Result<PrimitiveInputs> {
        let mut stride = 0;
        let mut vertices = None;
        let mut normal = None;
        // Number of the set, input and offset.
        let mut uv: Option<(usize, Node<'x, 'x>, usize)> = None;
        for input in children(primitive, "input") {
            let offset = self.document.whole(input, "offset", Some(0))?;
            if offset > MAX_OFFSET {
                let message = format!("the offset must be at most {MAX_OFFSET}, got {offset}");
                return Err(self.document.error(input, message));
            }
            stride = stride.max(offset + 1);
            match input.attribute("semantic").unwrap_or_default() {
                "VERTEX" => vertices = Some((input, offset)),
                "NORMAL" => normal = Some((input, offset)),
                "TEXCOORD" => {
                    let set = self.document.whole(input, "set", Some(0))?;
                    if uv.is_none_or(|(lowest, ..)| set < lowest) {
                        uv = Some((set, input, offset));
                    }
                }
                _ => {}
            }
        }
        let mut uv = uv.map(|(_, input, offset)| (input, offset));
        let Some((input, offset)) = vertices else {
            let tag = primitive.tag_name().name();
            let message = format!("<{tag}> must have an <input semantic=\"VERTEX\">");
            return Err(self.document.error(primitive, message));
        };
        // Inputs of <vertices> share the index of the vertex.
        let vertices = self.document.referred(input, "source", &["vertices"])?;
        let mut position = None;
        for input in children(vertices, "input") {
            match input.attribute("semantic").unwrap_or_default() {
                "POSITION" => position = Some(input),
                "NORMAL" if normal.is_none() => normal = Some((input, offset)),
                "TEXCOORD" if uv.is_none() => uv = Some((input, offset)),
                _ => {}
            }
        }
        let Some(position) = position else {
            let message = "<vertices> must have an <input semantic=\"POSITION\">";
            return Err(self.document.error(vertices, message));
        };
        let mut read = |found: Option<(Node<'x, 'x>, usize)>, role| -> Result<_> {
            match found {
                None => Ok(None),
                Some((input, offset)) => {
                    let span = self.source(input, role)?;
                    Ok(Some(InputOffset { offset, span }))
                }
            }
        };
        let normal = read(normal, InputSemantic::Normal)?;
        let uv = read(uv, InputSemantic::Uv)?;
        let span = self.source(position, InputSemantic::Position)?;
        Ok(PrimitiveInputs {
            stride,
            position: InputOffset { offset, span },
            normal,
            uv,
        })
    }

    /// Reads the source of an input, unless it is known already.
    fn source(&mut self, input: Node<'x, 'x>, role: InputSemantic) -> Result<SourceSpan> {
        let document = self.document;
        let source = document.referred(input, "source", &["source"])?;
        if let Some(span) = self.pools[role as usize].get(&source.id()) {
            return Ok(*span);
        }
        let Some(accessor) = child(source, &["technique_common", "accessor"]) else {
            let message = "<source> must have a <technique_common><accessor>";
            return Err(document.error(source, message));
        };
        let array = document.referred(accessor, "source", &["float_array"])?;
        let width = if role == InputSemantic::Uv { 2 } else { 3 };
        let count = document.whole(accessor, "count", None)?;
        let stride = document.whole(accessor, "stride", Some(width))?;
        let start = document.whole(accessor, "offset", Some(0))?;
        // Accessors skip parameters without a name.
        let params: Vec<bool> = children(accessor, "param")
            .map(|p| p.attribute("name").is_some_and(|name| !name.is_empty()))
            .collect();
        let named = params.iter().enumerate().filter(|(_, named)| **named);
        let mut columns: Vec<usize> = named.map(|(i, _)| i).collect();
        if columns.is_empty() {
            columns = (0..width).collect();
        }
        if columns.len() < width || columns[width - 1] >= stride {
            return Err(document.error(
                accessor,
                format!(
                    "the accessor must have at least {width} named parameters within its stride, got \
                    {} and the stride {stride}",
                    columns.len()
                ),
            ));
        }
        let numbers: Vec<&str> = words(array).collect();
        let end = count.checked_mul(stride).and_then(|n| n.checked_add(start));
        // The last element may lack skipped numbers at its end.
        let missing = stride - 1 - columns[width - 1];
        let complete = end.is_some_and(|end| count == 0 || end - missing <= numbers.len());
        if !complete || u32::try_from(count).is_err() {
            return Err(document.error(
                accessor,
                format!(
                    "the accessor needs {elements} of {numbers} from number {start} on, but \
                    <float_array> has only {num_numbers}",
                    elements = counted(count, "element"),
                    numbers = counted(stride, "number"),
                    num_numbers = counted(numbers.len(), "number")
                ),
            ));
        }
        let geometry = &mut self.geometry;
        let base = match role {
            InputSemantic::Position => geometry.positions.len(),
            InputSemantic::Normal => geometry.normals.len(),
            InputSemantic::Uv => geometry.uvs.len(),
        } as u32;
        for i in 0..count {
            let word = |k: usize| numbers[start + i * stride + columns[k]];
            // Normals and texture coordinates of degenerate triangles are unused and may be NaN.
            let number = |k: usize| match document.finite(array, word(k)) {
                Err(_) if role != InputSemantic::Position && word(k).parse::<f64>().is_ok() => {
                    Ok(0.0)
                }
                number => number,
            };
            match role {
                InputSemantic::Uv => geometry.uvs.push([number(0)?, number(1)?]),
                InputSemantic::Position | InputSemantic::Normal => {
                    let v = Vector3::new(number(0)?, number(1)?, number(2)?);
                    match role {
                        InputSemantic::Normal => geometry.normals.push(v),
                        _ => geometry.positions.push(v),
                    }
                }
            }
        }
        let span = SourceSpan {
            base,
            count: count as u32,
        };
        self.pools[role as usize].insert(source.id(), span);
        Ok(span)
    }
}
