use super::*;
use crate::mesh::MeshSource;
use crate::mesh::{Material, Texture, TextureImage, Wrap};

pub(super) const MATERIAL: &str = r##"
<library_materials><material id="m" name="paint"><instance_effect url="#e"/></material></library_materials>
<library_images><image id="i"><init_from>dir/my%20wood.png</init_from></image></library_images>
<library_effects><effect id="e"><profile_COMMON>
<newparam sid="surf"><surface type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="samp"><sampler2D><source>surf</source><wrap_s>MIRROR</wrap_s><wrap_t>CLAMP</wrap_t></sampler2D></newparam>
<technique sid="common"><phong>SHADING</phong></technique></profile_COMMON></effect></library_effects>"##;

/// Returns the material of a triangle with the given shading elements.
fn material(shading: &str) -> Material {
    let triangle = format!("<triangles material=\"sym\">{V}<p>0 1 2</p></triangles>");
    let node = scene(
        "<node><instance_geometry url=\"#g\"><bind_material><technique_common>\
         <instance_material symbol=\"sym\" target=\"#m\"/></technique_common></bind_material>\
         </instance_geometry></node>",
    );
    let text = document(&triangle, &(node + &MATERIAL.replace("SHADING", shading)));
    let mesh = read(&text).unwrap();
    assert_eq!(mesh.groups[0].material, Some(0));
    assert_eq!(mesh.materials.len(), 1);
    mesh.materials[0].clone()
}

#[test]
fn materials_have_colours_and_textures() {
    let paint = material("<diffuse><color>0.5 0.25 2 0.1</color></diffuse>");
    assert_eq!(paint.name, "paint");
    // The alpha value of a diffuse colour is ignored.
    assert_eq!(paint.diffuse.unwrap().rgba(), [0.5, 0.25, 1.0, 1.0]);
    let by_sampler = material("<diffuse><texture texture=\"samp\" texcoord=\"UV\"/></diffuse>");
    let texture = Texture {
        wrap: [Wrap::MirroredRepeat, Wrap::ClampToEdge],
        ..Texture::file("/m/dir/my wood.png")
    };
    assert_eq!(by_sampler.diffuse_map, Some(texture));
    assert_eq!(by_sampler.diffuse, None);
    let by_image = material("<diffuse><texture texture=\"i\"/></diffuse>");
    assert_eq!(
        by_image.diffuse_map,
        Some(Texture::file("/m/dir/my wood.png"))
    );
    let missing = material("<diffuse><texture texture=\"x\"/></diffuse>");
    assert_eq!(missing.diffuse_map, None);
    assert_eq!(
        material("<diffuse><color>1 nan 1 1</color></diffuse>").diffuse,
        None
    );
}

#[test]
fn transparency_follows_the_specification() {
    let opacity = |shading: &str| material(shading).diffuse.map_or(1.0, |d| d.rgba()[3]);
    let float = |f: f64| format!("<transparency><float>{f}</float></transparency>");
    let color = |mode: &str, c: &str| {
        format!("<transparent opaque=\"{mode}\"><color>{c}</color></transparent>")
    };
    assert_eq!(opacity(""), 1.0);
    assert_eq!(opacity(&float(0.25)), 0.25);
    assert_eq!(opacity(&(color("A_ONE", "0 0 0 0.5") + &float(0.5))), 0.25);
    assert_eq!(opacity(&color("A_ZERO", "0 0 0 0.25")), 0.75);
    let gray = |mode: &str| opacity(&(color(mode, "0.5 0.5 0.5 1") + &float(0.5)));
    assert!((gray("RGB_ZERO") - 0.75).abs() < 1e-15);
    assert!((gray("RGB_ONE") - 0.25).abs() < 1e-15);
    // Exporters that confuse opaque and transparent.
    assert_eq!(opacity(&float(0.0)), 1.0);
    assert_eq!(opacity(&(color("RGB_ZERO", "1 1 1 1") + &float(1.0))), 1.0);
    let textured = "<transparent><texture texture=\"i\"/></transparent>";
    assert_eq!(opacity(&(textured.to_owned() + &float(0.5))), 1.0);
}

#[test]
fn missing_materials_are_left_out() {
    let triangle = format!("<triangles material=\"sym\">{V}<p>0 1 2</p></triangles>");
    let mesh = read(&document(&triangle, "")).unwrap();
    assert_eq!((mesh.groups[0].material, mesh.materials.len()), (None, 0));
    let by_id = triangle.replace("sym", "m");
    let mesh = read(&document(&by_id, MATERIAL)).unwrap();
    assert_eq!(mesh.materials[0].name, "paint");
}

#[test]
fn textures_are_found_in_memory() {
    let triangle = format!("<triangles material=\"m\">{V}<p>0 1 2</p></triangles>");
    let shading = "<diffuse><texture texture=\"i\"/></diffuse>";
    let text = document(&triangle, &MATERIAL.replace("SHADING", shading));
    let wood = MemoryFile::new("wood", ".png", "wood");
    let mut mesh = InMemoryMesh::new(MemoryFile::new(text, ".DAE", "m"));
    let files = &mut mesh.supporting_files;
    files.insert("dir/my%20wood.png".into(), wood.into());
    let mesh = crate::mesh::read_source(&MeshSource::from(mesh)).unwrap();
    let texture = mesh.materials[0].diffuse_map.clone().unwrap();
    assert_eq!(texture.image, TextureImage::Content((*b"wood").into()));
}
