//! `<heightmap>`: terrain from images.

use super::{Loaded, load, model};
use std::path::Path;
use tarragon_geometry::{HeightField, Role, Shape};

/// Writes an image of 3 x 2 grey pixels.
fn image(file: &Path, depth: png::BitDepth, values: [u16; 6]) {
    let file = std::fs::File::create(file).unwrap();
    let mut encoder = png::Encoder::new(file, 3, 2);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(depth);
    let bytes: Vec<u8> = match depth {
        png::BitDepth::Sixteen => values.iter().flat_map(|v| v.to_be_bytes()).collect(),
        _ => values.iter().map(|v| *v as u8).collect(),
    };
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&bytes).unwrap();
}

fn terrain(uri: &str, inner: &str) -> String {
    let geometry = format!("<geometry><heightmap><uri>{uri}</uri>{inner}</heightmap></geometry>");
    model(&format!(
        "<static>true</static><link name='ground'><visual name='seen'>{geometry}</visual>\
         <collision name='felt'>{geometry}</collision></link>"
    ))
}

fn fields(loaded: &Loaded) -> Vec<(HeightField, f64)> {
    let inspector = loaded.scene.model_inspector();
    [Role::Proximity, Role::Illustration]
        .into_iter()
        .flat_map(|role| inspector.geometry_ids_with_role(role))
        .map(|id| match inspector.shape(id).unwrap() {
            Shape::HeightField(field) => {
                let z = inspector.pose_in_frame(id).unwrap().translation.z;
                (field.clone(), z)
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

/// The first row is at the largest y, and the brightest pixel has the height of `<size>`.
#[test]
fn image_gives_the_heights_of_collision_and_visual() {
    let folder = tempfile::tempdir().unwrap();
    for (depth, values) in [
        (png::BitDepth::Eight, [0, 50, 100, 200, 0, 20]),
        (png::BitDepth::Sixteen, [0, 5000, 10000, 20000, 0, 2000]),
    ] {
        let file = folder.path().join("hills.png");
        image(&file, depth, values);
        let inner = "<size>4 2 3</size><pos>0 0 7</pos>";
        let loaded = load(&terrain(&file.display().to_string(), inner));
        assert_eq!(loaded.said, [""; 0]);
        let found = fields(&loaded);
        assert_eq!(found.len(), 2);
        for (field, z) in found {
            assert_eq!((field.rows(), field.columns(), z), (2, 3, 7.0));
            assert_eq!((field.size(), field.base()), ([4.0, 2.0], -1.0));
            let expected = [3.0, 0.0, 0.3, 0.0, 0.75, 1.5];
            for (height, expected) in field.heights().iter().zip(expected) {
                assert!((height - expected).abs() < 1e-12, "{height} {expected}");
            }
        }
    }
}

#[test]
fn unsupported_parts_are_reported_and_the_terrain_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hills.png");
    image(&file, png::BitDepth::Eight, [0, 1, 2, 3, 4, 5]);
    let inner = "<sampling>4</sampling><texture><size>1</size><diffuse>a.png</diffuse>\
                 <normal>b.png</normal></texture>";
    let loaded = load(&terrain(&file.display().to_string(), inner));
    assert_eq!(fields(&loaded).len(), 2);
    for word in ["<sampling>", "<texture>"] {
        let said = loaded.said.iter().filter(|s| s.contains(word)).count();
        assert_eq!(said, 1, "{:?}", loaded.said);
    }
}

/// Warnings name the missing file, and the rest of the model is read.
#[test]
fn missing_or_foreign_images_are_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.png");
    std::fs::write(&broken, "no image").unwrap();
    let tiff = folder.path().join("dem.tif");
    std::fs::write(&tiff, "II*").unwrap();
    let at = |file: &Path| file.display().to_string();
    for (uri, inner, words) in [
        (at(&folder.path().join("none.png")), "", "none.png"),
        (at(&broken), "", "broken.png"),
        (at(&tiff), "", "must be a PNG file, got '.tif'"),
        (
            at(&broken),
            "<size>1 1 -1</size>",
            "<size> must be three positive",
        ),
        ("model://nowhere/a.png".into(), "", "nowhere"),
    ] {
        let loaded = load(&terrain(&uri, inner));
        assert!(fields(&loaded).is_empty());
        let said = &loaded.said;
        assert!(
            said.iter()
                .any(|s| s.contains(words) && s.contains("left out")),
            "{said:?}"
        );
    }
}

/// Drake 1.51 leaves it out, too.
#[test]
fn heightmap_that_names_no_image_is_left_out() {
    for inner in ["", "<size>1 1 1</size>"] {
        let text = model(&format!(
            "<link name='ground'><collision name='c'><geometry><heightmap>{inner}</heightmap>\
             </geometry></collision></link>"
        ));
        let loaded = load(&text);
        let [said] = &loaded.said[..] else {
            panic!("{:?}", loaded.said);
        };
        assert!(
            said.contains("<heightmap> is left out: it must name an image by <uri>"),
            "{said}"
        );
        assert!(fields(&loaded).is_empty());
    }
}
