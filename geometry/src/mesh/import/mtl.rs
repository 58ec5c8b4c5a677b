//! MTL, the material files of OBJ.

use super::lines::{LineOrigin, for_each_line};
use super::origin::FileOrigin;
use crate::error::short;
use crate::error::{Error, Result};
use crate::mesh::FileSource;
use crate::mesh::{Material, Texture, TextureImage};
use crate::rgba::Rgba;
use std::convert::Infallible;
use tarragon_framework::warnings::warn;

/// Reads the content of an MTL file: `Kd`, `d`, `Tr`, `map_Kd` and `map_d` of every material. Other
/// statements have no effect on rendering and are skipped. A wrong statement is ignored with a
/// warning.
pub(super) fn parse(origin: FileOrigin<'_>, bytes: &[u8]) -> Vec<Material> {
    let mut materials: Vec<Material> = Vec::new();
    let Ok(()) = for_each_line::<Infallible>(origin.path, bytes, |place, key, rest| {
        if let Err(why) = statement(origin, &mut materials, place, key, rest) {
            warn(format!("{why}; the statement is ignored"));
        }
        Ok(())
    });
    materials
}

fn statement(
    origin: FileOrigin<'_>,
    materials: &mut Vec<Material>,
    place: LineOrigin<'_>,
    key: &str,
    rest: &str,
) -> Result<()> {
    if key == "newmtl" {
        materials.push(Material {
            name: rest.into(),
            ..Material::default()
        });
        return Ok(());
    }
    if !["Kd", "d", "Tr", "map_Kd", "map_d"].contains(&key) {
        return Ok(());
    }
    let material = materials
        .last_mut()
        .ok_or_else(|| place.error(format!("'{key}' comes before any 'newmtl'")))?;
    let [r, g, b, a] = material.diffuse.unwrap_or(Rgba::WHITE).rgba();
    let mut words = rest.split_whitespace();
    match key {
        "Kd" => {
            // A single value applies to all three channels.
            let r = unit(place, words.next(), "red of Kd")?;
            let (g, b) = match words.next() {
                None => (r, r),
                g => (
                    unit(place, g, "green of Kd")?,
                    unit(place, words.next(), "blue of Kd")?,
                ),
            };
            material.diffuse = Some(rgba(place, [r, g, b, a])?);
        }
        "d" | "Tr" => {
            let value = unit(place, words.rfind(|w| *w != "-halo"), key)?;
            let a = if key == "d" { value } else { 1.0 - value };
            material.diffuse = Some(rgba(place, [r, g, b, a])?);
        }
        _ => {
            // Options come first and all have values; the file name ends the line.
            let name = if rest.starts_with('-') {
                words.next_back().unwrap_or_default()
            } else {
                rest
            };
            if name.is_empty() {
                return Err(place.error(format!("{key} must name a file, got nothing")));
            }
            let map = if key == "map_d" {
                &mut material.opacity_map
            } else {
                &mut material.diffuse_map
            };
            match origin.find(name, &name.replace('\\', "/")) {
                Ok(FileSource::Path(path)) => *map = Some(Texture::file(path)),
                Ok(FileSource::Memory(file)) => {
                    *map = Some(TextureImage::Content(file.contents().clone()).into());
                }
                // Without the texture the colour remains, as in the other formats.
                Err(why) => return Err(place.error(format!("texture '{}' {why}", short(name)))),
            }
        }
    }
    Ok(())
}

/// Parses a number and clamps it to `[0, 1]`, because exporters write values slightly or far above
/// 1.
fn unit(place: LineOrigin<'_>, word: Option<&str>, what: &str) -> Result<f64> {
    Ok(place.number(word, what)?.clamp(0.0, 1.0))
}

fn rgba(place: LineOrigin<'_>, [r, g, b, a]: [f64; 4]) -> Result<Rgba> {
    Rgba::new(r, g, b, a).map_err(|e: Error| place.error(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn parse(path: &Path, bytes: &[u8]) -> Vec<Material> {
        super::parse(FileOrigin::on_disk(path), bytes)
    }

    #[test]
    fn colours_opacity_and_textures_are_read() {
        let text = "# x\nnewmtl a b\nKd 0.5 0.25 2\nTr 0.25\nillum 2\nnewmtl c\r\nd 0.5\n\
                    map_Kd -s 1 1 1 dir\\tex.png\nnewmtl e\nmap_Kd my file.png\nKd 0.5\nmap_d holes.png";
        let m = parse(Path::new("/m/x.mtl"), text.as_bytes());
        assert_eq!(m[0].name, "a b");
        assert_eq!(m[0].diffuse.unwrap().rgba(), [0.5, 0.25, 1.0, 0.75]);
        assert_eq!(m[1].diffuse.unwrap().rgba(), [1.0, 1.0, 1.0, 0.5]);
        assert_eq!(m[1].diffuse_map, Some(Texture::file("/m/dir/tex.png")));
        assert_eq!(m[2].diffuse_map, Some(Texture::file("/m/my file.png")));
        assert_eq!(m[2].opacity_map, Some(Texture::file("/m/holes.png")));
        assert_eq!(m[2].diffuse.unwrap().b(), 0.5);
    }

    #[test]
    fn textures_may_be_uris_of_packages() {
        let name = format!("tarragon-textures-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let at = |path: &str| folder.join(path);
        for path in [
            "arm/meshes",
            "arm/images",
            "other/images",
            "src/hand-1.0/meshes",
        ] {
            std::fs::create_dir_all(at(path)).unwrap();
        }
        let images = [
            "arm/images/a.png",
            "other/images/b c.png",
            "src/hand-1.0/d.png",
        ];
        images
            .iter()
            .for_each(|path| std::fs::write(at(path), "").unwrap());
        let manifest = "<package><name> hand </name></package>";
        std::fs::write(at("src/hand-1.0/package.xml"), manifest).unwrap();
        let file = format!("file://{}", at("arm/images/a.png").display());
        for (from, uri, expected) in [
            (
                "arm/meshes/x.mtl",
                "package://arm/images/a.png",
                Some("arm/images/a.png"),
            ),
            (
                "arm/meshes/x.mtl",
                "model://arm/images/a.png",
                Some("arm/images/a.png"),
            ),
            (
                "arm/meshes/x.mtl",
                "model://other/images/b%20c.png",
                Some("other/images/b c.png"),
            ),
            (
                "src/hand-1.0/meshes/x.mtl",
                "package://hand/d.png",
                Some("src/hand-1.0/d.png"),
            ),
            ("arm/meshes/x.mtl", &file, Some("arm/images/a.png")),
            ("arm/meshes/x.mtl", "package://none/a.png", None),
            ("arm/meshes/x.mtl", "package://arm/none.png", None),
            ("arm/meshes/x.mtl", "https://a/b.png", None),
        ] {
            let text = format!("newmtl a\nmap_Kd {uri}");
            let read = || parse(&at(from), text.as_bytes());
            let (materials, warnings) = tarragon_framework::warnings::collect(read);
            let expected = expected.map(|path| Texture::file(at(path)));
            assert_eq!(materials[0].diffuse_map, expected, "{uri}");
            assert_eq!(
                warnings.len(),
                usize::from(expected.is_none()),
                "{warnings:?}"
            );
            assert!(
                warnings
                    .iter()
                    .all(|w| w.contains(uri) && w.contains("x.mtl:2"))
            );
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// MuJoCo 3.3.7 loads these files, too.
    #[test]
    fn wrong_statements_are_ignored_with_their_lines() {
        for (wrong, expected) in [
            (
                "Kd 1 z 1",
                "x.mtl:3: green of Kd must be a finite number, got 'z'",
            ),
            ("Kd", "x.mtl:3: red of Kd is missing"),
            ("Kd 1 0", "x.mtl:3: blue of Kd is missing"),
            (
                "Kd 1,0,0",
                "x.mtl:3: red of Kd must be a finite number, got '1,0,0'",
            ),
            ("d", "x.mtl:3: d is missing"),
            ("d nan", "x.mtl:3: d must be a finite number, got 'nan'"),
            ("map_Kd", "x.mtl:3: map_Kd must name a file"),
        ] {
            let text = format!("newmtl a\nKd 0 1 0\n{wrong}\n");
            let read = || parse(Path::new("x.mtl"), text.as_bytes());
            let (materials, warnings) = tarragon_framework::warnings::collect(read);
            assert_eq!(materials[0].diffuse.unwrap().rgba(), [0., 1., 0., 1.]);
            assert_eq!(warnings.len(), 1, "{warnings:?}");
            assert!(warnings[0].contains(expected), "{warnings:?}");
            assert!(warnings[0].ends_with("; the statement is ignored"));
        }
        let read = || parse(Path::new("x.mtl"), b"\xef\xbb\xbfKd 1 1 1\rnewmtl a\rd 0.5");
        let (materials, warnings) = tarragon_framework::warnings::collect(read);
        assert_eq!(materials[0].diffuse.unwrap().a(), 0.5, "CR line ends");
        assert!(warnings[0].contains("x.mtl:1: 'Kd' comes before any 'newmtl'"));
    }
}
