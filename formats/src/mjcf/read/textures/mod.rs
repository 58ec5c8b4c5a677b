//! `<texture>`: images from files and generated ones, and their place on shapes.
//!
//! Sources: "XML Reference" of MuJoCo's documentation, `asset/texture` and `asset/material`. A flat
//! texture without coordinates is projected along the z axis of a geom, a cube from its centre;
//! the coordinates are those of a shape whose half lengths are 1, or with `texuniform` metres.

mod generated;
mod skybox;

use self::generated::GeneratedTexture;
pub(super) use self::skybox::Skybox;
use super::asset_context::AssetContext;
use super::compiler::boolean;
use super::pixels::{MAX_PIXELS, Pixels};
use super::tree::ElementRef;
use nalgebra::{Isometry3, Vector3};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use tarragon_documents::read_file;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::mesh::TextureImage;
use tarragon_geometry::{ProjectedTexture, Rgba, Shape};

/// Maximum number of pixels that the builtin textures of a file have together.
pub(super) const MAX_BUILTIN_PIXELS: usize = 2 * MAX_PIXELS;

/// Letters of the faces of a cube in `gridlayout`, and the attributes of their files, in the order
/// of the images: x, -x, y, -y, z, -z.
const FACES: [(char, &str); 6] = [
    ('R', "fileright"),
    ('L', "fileleft"),
    ('U', "fileup"),
    ('D', "filedown"),
    ('F', "filefront"),
    ('B', "fileback"),
];

/// A texture, whose images are made when the first geom uses them.
#[derive(Debug)]
pub(super) struct TextureAsset {
    source: TextureSource,
    is_cube: bool,
    pub(super) is_skybox: bool,
    images: OnceCell<Result<Vec<TextureImage>, String>>,
}

/// Origin of the images of a texture.
#[derive(Clone, Debug)]
enum TextureSource {
    Generated(GeneratedTexture),
    /// One file, which all faces of a cube have, and whether it is mirrored across and down.
    File(PathBuf, [bool; 2]),
    /// One file with the faces of a cube in a grid.
    Grid(PathBuf, [bool; 2], FaceGrid),
    /// One file per face; faces without one are black.
    Faces([Option<PathBuf>; 6], [bool; 2]),
}

/// Faces of a cube in one image.
#[derive(Clone, Debug)]
struct FaceGrid {
    /// Numbers of rows and columns.
    size: [usize; 2],
    /// Row and column of each face; faces without any are black.
    places: [Option<[usize; 2]>; 6],
}

/// A texture as a material places it on shapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedTexture<'a> {
    pub(super) texture: &'a TextureAsset,
    pub(super) repeat: [f64; 2],
    pub(super) is_uniform: bool,
}

impl TextureAsset {
    /// Reads a texture with its name; `None` if it is left out, which is reported. `budget` is the
    /// number of pixels that textures may still have together.
    pub(super) fn read(
        node: ElementRef<'_>,
        context: &AssetContext<'_>,
        budget: &mut usize,
    ) -> Parsed<Option<(String, Self)>> {
        let compiler = context.compiler(node);
        let kind = node.choice("type", &["2d", "cube", "skybox"])?;
        let (is_cube, is_skybox) = (kind != Some("2d"), kind == Some("skybox"));
        let path = |attribute: &str| {
            let Some(file) = node.own_text(attribute) else {
                return Ok(None);
            };
            let uri = compiler.file_name(&compiler.texture_directory, file);
            // A model without its picture is the same plant.
            let found = (context.resolve)(&uri).map(Some);
            found.map_err(|why| {
                node.warning_at(attribute, format!("the texture is left out: {why}"));
            })
        };
        let flip = |name| Ok(boolean(node, name)?.unwrap_or(false));
        let flips = [flip("hflip")?, flip("vflip")?];
        let Ok(file) = path("file") else {
            return Ok(None);
        };
        let stem = file.as_deref().and_then(Path::file_stem);
        let stem = stem.map(|s| s.to_string_lossy().into_owned());
        let name = node.name().map(String::from).or(stem).unwrap_or_default();
        // A sky of any size must not keep a file from being read.
        let limit = if is_skybox {
            f64::INFINITY
        } else {
            MAX_PIXELS as f64
        };
        let source = if let Some(generated) = GeneratedTexture::read(node, is_cube, limit)? {
            let pixels = generated.num_pixels(is_cube);
            if pixels > MAX_PIXELS {
                node.warning(format!(
                    "skybox '{name}' is left out: a builtin texture may have {MAX_PIXELS} pixels, \
                     got {pixels}"
                ));
                return Ok(None);
            }
            if pixels > *budget {
                node.warning(format!(
                    "texture '{name}' is left out: builtin textures may have {MAX_BUILTIN_PIXELS} \
                     pixels together"
                ));
                return Ok(None);
            }
            *budget -= pixels;
            TextureSource::Generated(generated)
        } else if let Some(file) = file {
            match is_cube.then(|| grid(node)).transpose()?.flatten() {
                Some(grid) => TextureSource::Grid(file, flips, grid),
                None => TextureSource::File(file, flips),
            }
        } else {
            let mut files: [Option<PathBuf>; 6] = Default::default();
            for (file, (_, attribute)) in files.iter_mut().zip(FACES) {
                let Ok(found) = path(attribute) else {
                    return Ok(None);
                };
                *file = found;
            }
            if !is_cube || files.iter().all(Option::is_none) {
                node.ignored("it has neither 'builtin' nor 'file'");
                return Ok(None);
            }
            TextureSource::Faces(files, flips)
        };
        let asset = Self {
            source,
            is_cube,
            is_skybox,
            images: OnceCell::new(),
        };
        Ok(Some((name, asset)))
    }

    /// Returns the file of a flat texture that is one image as it is.
    pub(super) fn flat_file(&self) -> Option<&Path> {
        match &self.source {
            TextureSource::File(path, [false, false]) if !self.is_cube => Some(path),
            _ => None,
        }
    }

    fn images(&self) -> Result<&[TextureImage], String> {
        let images = self.images.get_or_init(|| self.source.images(self.is_cube));
        images.as_deref().map_err(Clone::clone)
    }
}

/// Reads the places of the faces in a grid of images; `None` if there is one image.
fn grid(node: ElementRef<'_>) -> Parsed<Option<FaceGrid>> {
    let [rows, columns] = node.vector::<2>("gridsize")?.unwrap_or([1.0; 2]);
    let is_count = |n: f64| (1.0..=12.0).contains(&n) && n.fract() == 0.0;
    if !(is_count(rows) && is_count(columns) && rows * columns <= 12.0) {
        let message = format!(
            "'gridsize' must be numbers of rows and columns with at most 12 images, got {rows:?} \
             x {columns:?}"
        );
        return Err(node.error_at("gridsize", message));
    }
    let [rows, columns] = [rows as usize, columns as usize];
    if rows * columns == 1 {
        return Ok(None);
    }
    let layout = node.text("gridlayout").unwrap_or("............");
    let mut places = [None; 6];
    for (i, letter) in layout.chars().enumerate().take(rows * columns) {
        if let Some(face) = FACES.iter().position(|(name, _)| *name == letter) {
            places[face] = Some([i / columns, i % columns]);
        } else if letter != '.' {
            let message = format!(
                "'gridlayout' must consist of the letters R, L, U, D, F and B and of dots, got \
                 '{letter}'"
            );
            return Err(node.error_at("gridlayout", message));
        }
    }
    let size = [rows, columns];
    Ok(Some(FaceGrid { size, places }))
}

fn read_pixels(path: &Path, flips: [bool; 2]) -> Result<Pixels, String> {
    let name = |why: String| format!("'{}': {why}", path.display());
    let bytes = read_file(path).map_err(|e| e.to_string())?;
    let image = Pixels::from_png(&bytes).map_err(name)?;
    Ok(match flips {
        [false, false] => image,
        flips => image.flipped(flips),
    })
}

/// Writes images, equal ones once.
fn written(images: &[Pixels]) -> Result<Vec<TextureImage>, String> {
    let mut made: Vec<TextureImage> = vec![];
    for (i, image) in images.iter().enumerate() {
        let same = images[..i].iter().position(|other| other == image);
        made.push(match same {
            Some(same) => made[same].clone(),
            None => image.to_image()?,
        });
    }
    Ok(made)
}

impl TextureSource {
    /// Makes the image, or the six images of a cube.
    fn images(&self, is_cube: bool) -> Result<Vec<TextureImage>, String> {
        let black = || Pixels::of(1, 1, |_, _| [0; 3]);
        match self {
            Self::Generated(generated) if is_cube => written(&generated.cube()),
            Self::Generated(generated) => written(&[generated.flat()]),
            Self::File(path, flips) => {
                let image = match flips {
                    [false, false] => TextureImage::File(path.clone()),
                    flips => read_pixels(path, *flips)?.to_image()?,
                };
                Ok(vec![image; if is_cube { 6 } else { 1 }])
            }
            Self::Grid(path, flips, FaceGrid { size, places }) => {
                let image = read_pixels(path, *flips)?;
                let [rows, columns] = *size;
                if image.width < columns || image.height < rows {
                    return Err(format!(
                        "'{}': an image of {} x {} pixels has no {columns} x {rows} parts",
                        path.display(),
                        image.width,
                        image.height
                    ));
                }
                let part = |place: &Option<[usize; 2]>| match place {
                    Some([row, column]) => image.part(*size, *row, *column),
                    None => black(),
                };
                written(&places.each_ref().map(part))
            }
            Self::Faces(paths, flips) => {
                let read = |path: &Option<PathBuf>| match path {
                    Some(path) => read_pixels(path, *flips),
                    None => Ok(black()),
                };
                written(&paths.iter().map(read).collect::<Result<Vec<_>, _>>()?)
            }
        }
    }
}

/// Extent of a shape under a projected texture.
pub(super) struct Span {
    /// Half lengths (m).
    half: Vector3<f64>,
    /// Half of the edges of a plane (m), 0 if it has no end.
    half_plane: [f64; 2],
    /// Pose of the frame P of the projection in that of the shape, and true if the images have
    /// their size per metre, as on meshes.
    x_sp: Isometry3<f64>,
    is_mesh: bool,
}

impl Span {
    /// Returns the extent of a primitive; `None` for shapes that no texture is drawn on.
    pub(super) fn of(shape: &Shape, half_plane: [f64; 2]) -> Option<Self> {
        let half = match shape {
            Shape::Box(b) => b.half_size(),
            Shape::Sphere(s) => Vector3::repeat(s.radius()),
            Shape::Ellipsoid(e) => e.semi_axes(),
            Shape::Cylinder(c) => Vector3::new(c.radius(), c.radius(), c.length() / 2.0),
            // MuJoCo places the two ends by their radius instead.
            Shape::Capsule(c) => Vector3::new(c.radius(), c.radius(), c.length() / 2.0),
            Shape::HalfSpace(_) => Vector3::new(half_plane[0], half_plane[1], 1.0),
            _ => return None,
        };
        Some(Self {
            half,
            half_plane,
            x_sp: Isometry3::identity(),
            is_mesh: false,
        })
    }
    /// Takes the half lengths of a mesh (m) in P, whose pose in the frame of the mesh is `X_SP`.
    pub(super) fn of_mesh(half: Vector3<f64>, x_sp: &Isometry3<f64>) -> Self {
        Self {
            half,
            half_plane: [0.0; 2],
            x_sp: *x_sp,
            is_mesh: true,
        }
    }
}

impl PlacedTexture<'_> {
    /// Projects the texture.
    pub(super) fn on(&self, span: &Span, color: Rgba) -> Result<ProjectedTexture, String> {
        let images = self.texture.images()?;
        // Lengths of 0, as those of a plane without an end, count as 1 m.
        let counted = |x: f64| if x <= 0.0 { 1.0 } else { x };
        let half = span.half.map(counted);
        let per_metre = if self.is_uniform {
            Vector3::repeat(1.0)
        } else {
            half.map(|x| 1.0 / x)
        };
        let placed = match images {
            [image] => {
                let repeats = [0, 1].map(|k| 0.5 * self.repeat[k] * per_metre[k]);
                ProjectedTexture::along_z(image.clone(), repeats)
            }
            images => {
                let six = [0, 1, 2, 3, 4, 5].map(|i| images[i].clone());
                // The coordinates of a mesh are not relative to its size.
                let scale = if span.is_mesh {
                    half.component_mul(&per_metre)
                } else {
                    per_metre
                };
                ProjectedTexture::from_center(six, scale)
            }
        };
        let extent = |x: f64| {
            if x > 0.0 {
                x
            } else {
                ProjectedTexture::HALF_SPACE_EXTENT
            }
        };
        let placed = placed.and_then(|p| p.with_half_extents(span.half_plane.map(extent)));
        let placed = placed.map_err(|e| e.to_string())?;
        Ok(placed.with_color(color).with_pose(&span.x_sp))
    }

    /// Places the texture at the coordinates of a mesh.
    pub(super) fn at_coordinates(&self, color: Rgba) -> Result<ProjectedTexture, String> {
        match self.texture.images()? {
            [image] => Ok(ProjectedTexture::at_coordinates(image.clone()).with_color(color)),
            _ => Err(
                "as in MuJoCo, a mesh with texture coordinates shows no cube; give the \
                      texture the type '2d'"
                    .into(),
            ),
        }
    }
}
