//! OBJ files, sent as text with their materials and textures.

use super::files::{Files, media_type, short};
use super::{Object, ObjectEncoder, Paint, material};
use crate::Result;
use bytes::Bytes;
use nalgebra::Matrix4;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tarragon_framework::warnings::warn;
use tarragon_geometry::{FileSource, MeshSource, Rgba};

/// Name of the material, and of its image, of meshes with a `("phong", "diffuse_map")`.
const PAINTED: &str = "diffuse_map";

/// Encodes an OBJ file. Material files and textures that cannot be read are logged and left out.
/// Without any material file, the mesh is drawn in the colour and with the image of `paint`.
///
/// # Errors
/// Returns an error if the OBJ file cannot be read, or the files together are too large.
pub(super) fn object(
    e: &ObjectEncoder<'_>,
    source: &MeshSource,
    paint: Paint<'_>,
    matrix: &Matrix4<f64>,
) -> Result<Object> {
    let mut files = Files::new(source);
    let content = files.mesh_file()?;
    let mut text = String::from_utf8_lossy(&content);
    let path = PathBuf::from(source.description());
    let mut library = String::new();
    let mut resources = BTreeMap::new();
    for name in material_files(&text) {
        let Some((mtl_path, mtl)) = material_file(&mut files, &path, name) else {
            continue;
        };
        let mtl = String::from_utf8_lossy(&mtl);
        textures(&mut files, &mtl_path, &mtl, &mut resources);
        if !library.is_empty() {
            library.push('\n');
        }
        library.push_str(&mtl);
    }
    if library.is_empty()
        && let Some((map, tint)) = paint.diffuse_map
        && let Some(image) = image(&mut files, &path, &text, map)
    {
        library = painted_materials(&text, tint);
        resources.insert(PAINTED.to_owned(), image);
        text = Cow::Owned(format!("usemtl {PAINTED}\n{text}"));
    }
    if library.is_empty() {
        return Ok(e.object(
            text.len(),
            "Mesh",
            |w, uuid| {
                w.map(4).key_str("type", "_meshfile_geometry");
                w.key_str("uuid", uuid).key_str("format", "obj");
                w.key_str("data", &text);
            },
            |w, uuid| material::phong(w, uuid, paint.rgba, false),
            matrix,
        ));
    }
    let size = resources
        .iter()
        .map(|(k, v)| k.len() + v.len() / 3 * 4 + 64);
    Ok(e.file_object(
        size.sum(),
        "obj",
        &text,
        &library,
        |w| {
            w.map(resources.len());
            for (name, content) in &resources {
                w.str(name).data_uri(media_type(content), content);
            }
        },
        matrix,
    ))
}

/// Reads the image that an OBJ file without materials is painted with. Without texture coordinates
/// in the file, there is nothing to paint.
fn image(files: &mut Files<'_>, path: &Path, text: &str, map: &Path) -> Option<Bytes> {
    if statements(text, "vt").next().is_none() {
        warn(format!(
            "{}: the image '{}' is not shown, because the mesh has no texture coordinates",
            path.display(),
            map.display()
        ));
        return None;
    }
    let image = files.read(&FileSource::Path(map.into()));
    let image = image.inspect_err(|error| {
        warn(format!(
            "{}: the image cannot be read, the mesh is shown without it: {error}",
            path.display()
        ));
    });
    image.ok()
}

/// Returns materials with an image and a colour under all names that an OBJ file uses.
fn painted_materials(text: &str, rgba: Rgba) -> String {
    let names: BTreeSet<&str> = statements(text, "usemtl").chain([PAINTED]).collect();
    let mut library = String::new();
    for name in names {
        let (r, g, b, a) = (rgba.r(), rgba.g(), rgba.b(), rgba.a());
        library += &format!("newmtl {name}\nKd {r} {g} {b}\nd {a}\nmap_Kd {PAINTED}\n");
    }
    library
}

/// Returns the arguments of the `mtllib` statements of an OBJ file, without duplicates.
fn material_files(text: &str) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let names = statements(text, "mtllib");
    names.filter(|name| seen.insert(*name)).collect()
}

/// Returns the arguments of the statements of an OBJ file that have a keyword: the rest of each
/// line, unless it is empty.
fn statements<'t>(text: &'t str, key: &str) -> impl Iterator<Item = &'t str> {
    const LINE_END: [char; 2] = ['\n', '\r'];
    // Files are long, and few of their lines are such statements.
    let mut rest = text;
    std::iter::from_fn(move || {
        while let Some(at) = rest.find(key) {
            let line = &rest[rest[..at].rfind(LINE_END).map_or(0, |i| i + 1)..];
            let (line, next) = line.split_at(line.find(LINE_END).unwrap_or(line.len()));
            rest = next;
            let line = line.split('#').next().unwrap_or_default();
            let argument = line.trim_start().strip_prefix(key);
            let argument = argument.filter(|argument| argument.starts_with([' ', '\t']));
            let argument = argument.unwrap_or_default().trim();
            if !argument.is_empty() {
                return Some(argument);
            }
        }
        None
    })
}

/// Maximum number of words of a line that are tried as file names.
const MAX_WORDS: usize = 16;

/// Reads the material file `name` of the OBJ file `path`. A name may contain spaces. If there is no
/// file of that name, the words are taken as the names of several files, and the first one that can
/// be read is used.
fn material_file(files: &mut Files<'_>, path: &Path, name: &str) -> Option<(PathBuf, Bytes)> {
    let mut failure = None;
    let words = name.split_whitespace().filter(|word| *word != name);
    let words = words.take(MAX_WORDS);
    for name in std::iter::once(name).chain(words) {
        match read(files, path, name) {
            Ok(found) => return Some(found),
            Err(why) => failure = failure.or(Some(why)),
        }
    }
    warn(format!(
        "{}: the material file '{}' cannot be read, the mesh is shown without it: {}",
        path.display(),
        short(name),
        failure.unwrap_or_default()
    ));
    None
}

/// Reads the file `name` that `by` refers to, and returns its path and content.
fn read(files: &mut Files<'_>, by: &Path, name: &str) -> Result<(PathBuf, Bytes), String> {
    let file = files.find(by, name, &name.replace('\\', "/"))?;
    let content = files.read(&file).map_err(|e| e.to_string())?;
    let path = match file {
        FileSource::Path(path) => path,
        FileSource::Memory(_) => name.into(),
    };
    Ok((path, content))
}

/// Reads the textures of the material file `path`, keyed by the names that it uses.
fn textures(
    files: &mut Files<'_>,
    path: &Path,
    mtl: &str,
    resources: &mut BTreeMap<String, Bytes>,
) {
    let names: BTreeSet<String> = mtl.lines().filter_map(texture).collect();
    for name in names {
        if resources.contains_key(&name) {
            continue;
        }
        match read(files, path, &name) {
            Ok((_, content)) => {
                resources.insert(name, content);
            }
            Err(why) => warn(format!(
                "{}: the texture '{}' cannot be read, the mesh is shown without it: {why}",
                path.display(),
                short(&name)
            )),
        }
    }
}

/// Returns the texture named by a line of a material file: the text after the options.
fn texture(line: &str) -> Option<String> {
    let mut words = line.split_whitespace().peekable();
    let key = words.next()?.to_ascii_lowercase();
    let names_texture = matches!(&*key, "bump" | "disp" | "decal" | "refl" | "norm");
    if !names_texture && !key.starts_with("map_") || key == "map_aat" {
        return None;
    }
    while let Some(option) = words.next_if(|word| word.starts_with('-')) {
        match option {
            // These options have one to three numbers.
            "-o" | "-s" | "-t" => {
                for _ in 0..3 {
                    words.next_if(|word| word.parse::<f64>().is_ok());
                }
            }
            "-mm" => {
                words.nth(1);
            }
            _ => {
                words.next();
            }
        }
    }
    let name = words.collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn material_files_are_listed_once_and_comments_ignored() {
        assert_eq!(
            material_files(
                "mtllib a.mtl\r\n  mtllib\tmy b.mtl # c\n#mtllib c\nmtllibx d\no mtllib e\nmtllib a.mtl\nmtllib \n"
            ),
            ["a.mtl", "my b.mtl"]
        );
        assert_eq!(material_files("v 0 0 0\nmtllib z.mtl"), ["z.mtl"]);
        assert_eq!(material_files("mtllib"), [""; 0]);
    }

    /// The parser is linear in the length of the text, not quadratic in the number of statements.
    #[test]
    fn hostile_lines_are_parsed_in_linear_time() {
        let text = "mtllib ".repeat(300_000);
        assert_eq!(material_files(&text).len(), 1);
        let text = "x mtllib\r".repeat(300_000);
        assert_eq!(material_files(&text), [""; 0]);
    }

    #[test]
    fn names_of_textures_follow_the_options() {
        for (line, name) in [
            ("map_Kd t.png", Some("t.png")),
            (
                "  MAP_KD  -s 1 1 1 -o 0.5 dir\\my tex.png",
                Some("dir\\my tex.png"),
            ),
            ("bump -bm 2 -mm 0 1 -clamp on n.png", Some("n.png")),
            ("map_d -s 2 3.png", Some("3.png")),
            ("map_Kd", None),
            ("map_Kd -s 1", None),
            ("map_aat on", None),
            ("Kd 1 1 1", None),
            ("# map_Kd t.png", None),
            ("", None),
        ] {
            assert_eq!(texture(line).as_deref(), name, "{line}");
        }
    }
}
