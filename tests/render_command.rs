//! `tarragon render`, run as by a user.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tarragon::geometry::RenderLabel;
use tarragon::sensors::{Depth32F, ImageIo, Label16I, Rgba8U, color_map::label_color};

/// Runs the command on our arm, writing images to `out`.
fn render(out: &Path, more: &[&str]) -> Output {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models/arm7/arm7.urdf");
    Command::new(env!("CARGO_BIN_EXE_tarragon"))
        .arg("render")
        .arg(model)
        .arg("--out")
        .arg(out)
        .args(more)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn succeeds(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(Into::into).collect()
}

#[track_caller]
fn fails(output: &Output, expected: &[&str]) {
    let said = text(&output.stderr);
    assert!(
        !output.status.success() && output.stdout.is_empty(),
        "{said}"
    );
    for part in expected {
        assert!(said.contains(part), "'{part}' is not in: {said}");
    }
}

#[test]
fn all_images_show_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/pictures");
    let written = succeeds(&render(&out, &["--width", "160", "--height", "120"]));
    assert_eq!(written.len(), 5);
    let io = ImageIo::new();
    let color = io.load_as::<Rgba8U>(out.join("color.png")).unwrap();
    let depth = io.load_as::<Depth32F>(out.join("depth.tiff")).unwrap();
    let label = io.load_as::<Label16I>(out.join("label.png")).unwrap();
    let labels = io.load_as::<Rgba8U>(out.join("label_color.png")).unwrap();
    let depths = io.load_as::<Rgba8U>(out.join("depth_color.png")).unwrap();
    assert_eq!((color.width(), color.height()), (160, 120));
    let mut seen = 0;
    for y in 0..120 {
        for x in 0..160 {
            let l = label.at(x, y)[0];
            let empty = l == RenderLabel::EMPTY.value();
            assert_eq!(depth.at(x, y)[0].is_finite(), !empty, "({x}, {y})");
            assert_eq!(labels.at(x, y), label_color(l));
            assert_eq!(depths.at(x, y) == [255; 4], empty);
            seen += usize::from(!empty);
        }
    }
    // The arm is upright and fitted: nine tenths of the height, about a tenth as wide.
    assert!((500..5000).contains(&seen), "{seen}");
}

#[test]
fn a_camera_file_sets_the_camera() {
    let folder = tempfile::tempdir().unwrap();
    let camera = folder.path().join("camera.yaml");
    let yaml = "{name: front, width: 64, height: 48, focal: !FovDegrees {y: 60}, z_near: 0.2, z_far: 8,\n\
                clipping_near: 0.1, clipping_far: 9, background: {rgba: [1, 0, 0, 1]},\n\
                X_PB: {translation: [3, 0, 0.5], rotation: !Rpy {deg: [-90, 0, 90]}}}";
    std::fs::write(&camera, yaml).unwrap();
    let camera = camera.to_str().unwrap();
    let out = folder.path().join("out");
    let written = succeeds(&render(
        &out,
        &["--camera", camera, "--images", "color,depth"],
    ));
    assert_eq!(written.len(), 2);
    let color = ImageIo::new()
        .load_as::<Rgba8U>(out.join("color.png"))
        .unwrap();
    assert_eq!((color.width(), color.height()), (64, 48));
    assert_eq!(color.at(0, 0), [255, 0, 0, 255], "the background");
    let depth = ImageIo::new()
        .load_as::<Depth32F>(out.join("depth.tiff"))
        .unwrap();
    // The arm stands at the origin, 3 m in front of the camera, and is thinner than 0.3 m.
    let middle = depth.at(32, 30)[0];
    assert!((2.8..3.0).contains(&middle), "{middle}");
    let wide = ["--camera", camera, "--images", "color", "--width", "100"];
    succeeds(&render(&out, &wide));
    let color = ImageIo::new()
        .load_as::<Rgba8U>(out.join("color.png"))
        .unwrap();
    assert_eq!((color.width(), color.height()), (100, 48));

    let bad = folder.path().join("bad.yaml");
    std::fs::write(&bad, "name: front\nwidth: -3\n").unwrap();
    fails(
        &render(&out, &["--camera", bad.to_str().unwrap()]),
        &["bad.yaml:2:8: ", "-3"],
    );
    std::fs::write(&bad, "{name: front, X_PB: {base_frame: nowhere}}").unwrap();
    fails(
        &render(&out, &["--camera", bad.to_str().unwrap()]),
        &["nowhere"],
    );
    let missing = folder.path().join("missing.yaml");
    fails(
        &render(&out, &["--camera", missing.to_str().unwrap()]),
        &["missing.yaml"],
    );
}

#[test]
fn the_turntable_goes_around_once() {
    let folder = tempfile::tempdir().unwrap();
    let size = [
        "--width", "48", "--height", "36", "--images", "label", "--frames", "8",
    ];
    for (file, image) in [("turn.avi", "color"), ("turn.png", "depth-color")] {
        let path = folder.path().join(file);
        let video = [
            "--turntable",
            path.to_str().unwrap(),
            "--turntable-image",
            image,
        ];
        let written = succeeds(&render(folder.path(), &[&size[..], &video].concat()));
        assert_eq!(written.last().map(Path::new), Some(&*path));
        let bytes = std::fs::read(&path).unwrap();
        let count = |tag: &[u8]| bytes.windows(tag.len()).filter(|w| *w == tag).count();
        if file.ends_with("avi") {
            // Every JPEG image starts with these bytes.
            assert_eq!((&bytes[..4], count(&[0xff, 0xd8, 0xff])), (&b"RIFF"[..], 8));
        } else {
            assert_eq!(count(b"fcTL"), 8);
        }
    }
    let path = folder.path().join("turn.mov");
    let video = ["--turntable", path.to_str().unwrap()];
    fails(
        &render(folder.path(), &[&size[..], &video].concat()),
        &["turn.mov", ".avi"],
    );
    assert!(!path.exists());
}

#[test]
fn invalid_arguments_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    for (more, expected) in [
        (["--engine", "quantum"], ["quantum", "cpu"]),
        (["--width", "0"], ["--width", "1 to 16384"]),
        (["--direction", "0,0,0"], ["--direction", "three numbers"]),
        (["--images", "colour"], ["colour", "label-color"]),
        (["--fps", "0"], ["--fps", "above 0"]),
    ] {
        fails(&render(folder.path(), &more), &expected);
    }
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    fails(&render(&file, &[]), &["file", "directory"]);
}

/// Runs `tarragon render` on a model.
fn render_model(model: &Path, out: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.arg("render").arg(model).arg("--out").arg(out);
    command.args(["--width", "64", "--height", "48"]);
    command.args(more).output().unwrap()
}

/// A robot with one link that has the given visual.
fn robot(folder: &Path, visual: &str) -> PathBuf {
    let model = folder.join("robot.urdf");
    let link = format!("<link name='a'>{visual}</link>");
    std::fs::write(&model, format!("<robot name='r'>\n{link}\n</robot>")).unwrap();
    model
}

fn mesh(file: &str) -> String {
    format!("<visual><geometry><mesh filename='{file}'/></geometry></visual>")
}

/// Writes a triangle as glTF whose texture file is missing.
fn write_gltf_without_its_texture(folder: &Path) {
    let numbers = [
        0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0,
    ];
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(folder.join("a.bin"), &bytes).unwrap();
    let json = serde_json::json!({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "buffers": [{"uri": "a.bin", "byteLength": 60}],
        "bufferViews": [
            {"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 24}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
             "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2"}],
        "images": [{"uri": "missing.png"}], "textures": [{"source": 0}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "meshes": [{"primitives": [
            {"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
    });
    std::fs::write(folder.join("a.gltf"), json.to_string()).unwrap();
}

#[test]
fn missing_parts_give_warnings_with_places_and_errors_if_strict() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    write_gltf_without_its_texture(folder.path());
    let obj = "mtllib none.mtl\nusemtl red\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    std::fs::write(folder.path().join("a.obj"), obj).unwrap();
    for (file, missing) in [("a.gltf", "missing.png"), ("a.obj", "none.mtl")] {
        let model = robot(folder.path(), &mesh(file));
        let output = render_model(&model, &out, &["--images", "color"]);
        let said = text(&output.stderr);
        succeeds(&output);
        let told: Vec<&str> = said.lines().filter(|l| l.contains(missing)).collect();
        assert_eq!(told.len(), 1, "{said}");
        assert!(told[0].contains("robot.urdf:2:16: warning: "), "{said}");
        let strict = render_model(&model, &out, &["--images", "color", "--strict"]);
        fails(&strict, &["robot.urdf:2:16: error: ", missing]);
    }
}

#[test]
fn every_error_of_a_model_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let both = format!("{}{}", mesh("first.obj"), mesh("second.obj"));
    let output = render_model(&robot(folder.path(), &both), folder.path(), &[]);
    fails(
        &output,
        &["first.obj", "second.obj", "2 errors, nothing was loaded"],
    );
    assert!(!text(&output.stderr).contains("Parser::diagnostics"));
}

#[test]
fn a_distant_model_and_an_empty_mesh_are_explained_briefly() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let far = "<visual><origin xyz='1e300 0 0'/><geometry><sphere radius='1'/></geometry></visual>";
    let output = render_model(&robot(folder.path(), far), &out, &[]);
    fails(
        &output,
        &[
            "must lie within 1e15 m of the origin",
            "reaches to 1.000e300 m",
        ],
    );
    assert!(text(&output.stderr).len() < 500);
    std::fs::write(folder.path().join("empty.obj"), "").unwrap();
    let output = render_model(&robot(folder.path(), &mesh("empty.obj")), &out, &[]);
    fails(&output, &["empty.obj: the mesh file is empty (0 bytes)"]);
}

#[test]
fn image_names_of_the_help_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    for images in [
        &["--images", "color", "label-color"][..],
        &["--images", "color,label-color"],
    ] {
        let sizes = ["--width", "64", "--height", "48"];
        let written = succeeds(&render(folder.path(), &[images, &sizes].concat()));
        assert_eq!(written.len(), 2, "{images:?}");
    }
}

#[cfg(not(feature = "gpu"))]
#[test]
fn a_build_without_the_gpu_engine_tells_how_to_build_it() {
    let folder = tempfile::tempdir().unwrap();
    let said = render(folder.path(), &["--engine", "gpu"]);
    fails(&said, &["--engine gpu", "--features gpu"]);
}

/// An MJCF file with a ball below a green sky, which turns to red at the ground.
fn dusk(folder: &Path, sky: &str) -> PathBuf {
    let model = folder.join("dusk.xml");
    let text = format!(
        "<mujoco model='dusk'><asset><texture name='sky' type='skybox' {sky}/></asset>
           <worldbody><geom size='.1' rgba='0 0 1 1'/></worldbody></mujoco>"
    );
    std::fs::write(&model, text).unwrap();
    model
}

#[test]
fn skyboxes_are_behind_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let corner = |output: Output| {
        succeeds(&output);
        let io = ImageIo::new();
        let image = io.load_as::<Rgba8U>(out.join("color.png")).unwrap();
        let center = image.at(32, 24).to_vec();
        // The ball is lit as always.
        assert!(
            center[2] > 40 && center[0] == 0 && center[1] == 0,
            "{center:?}"
        );
        image.at(0, 0).to_vec()
    };
    let flat = "builtin='flat' width='4' rgb1='0 .2 0' rgb2='1 0 0'";
    let model = dusk(folder.path(), flat);
    let draw = |more: &[&str]| {
        let more = [&["--images", "color"], more].concat();
        render_model(&model, &out, &more)
    };
    assert_eq!(corner(draw(&["--direction=-1,0,0.3"])), [0, 51, 0, 255]);
    assert_eq!(corner(draw(&["--direction=0,0.1,-1"])), [255, 0, 0, 255]);
    let plain = corner(draw(&["--no-skybox"]));
    assert!(
        plain != [0, 51, 0, 255] && plain != [255, 0, 0, 255],
        "{plain:?}"
    );

    // A camera file has the sky, too, unless it has a background.
    let camera = folder.path().join("camera.yaml");
    let at = "X_PB: {translation: [1, 0, 0], rotation: !Rpy {deg: [-90, 0, 90]}}";
    let with_camera = |yaml: &str| {
        std::fs::write(&camera, format!("{{name: front, {yaml}{at}}}")).unwrap();
        corner(draw(&["--camera", camera.to_str().unwrap()]))
    };
    assert_eq!(with_camera(""), [0, 51, 0, 255]);
    assert_eq!(
        with_camera("background: {rgba: [1, 1, 0, 1]}, "),
        [255, 255, 0, 255]
    );
    assert_eq!(
        with_camera("renderer_class: !RenderEngineGlParams {}, "),
        [0, 51, 0, 255]
    );

    // A sky that cannot be drawn is left out.
    std::fs::write(folder.path().join("bad.png"), "no image").unwrap();
    for attributes in ["file='bad.png'", "file='bad.png' hflip='true'"] {
        let model = dusk(folder.path(), attributes);
        let draw = |more: &[&str]| {
            let more = [&["--images", "color"], more].concat();
            render_model(&model, &out, &more)
        };
        let output = draw(&[]);
        let said = text(&output.stderr);
        assert!(
            said.contains("warning: the skybox is left out: ") && said.contains("bad.png"),
            "{said}"
        );
        assert_eq!(corner(output), plain);
        fails(&draw(&["--strict"]), &["error: the skybox is left out: "]);
    }
}

/// Draws a model from 2 m in front of it; returns the number of pixels that show something.
fn seen_pixels(model: &Path, out: &Path, more: &[&str]) -> usize {
    let options = ["--images", "label"];
    // One camera for all roles.
    let camera = out.with_extension("yaml");
    let yaml = "{name: front, focal: !FovDegrees {y: 60},\n\
                X_PB: {translation: [2, 0, 0], rotation: !Rpy {deg: [-90, 0, 90]}}}\n";
    std::fs::write(&camera, yaml).unwrap();
    let camera = ["--camera", camera.to_str().unwrap()];
    let output = render_model(model, out, &[&options[..], &camera, more].concat());
    succeeds(&output);
    let label = ImageIo::new()
        .load_as::<Label16I>(out.join("label.png"))
        .unwrap();
    let pixels = (0..48).flat_map(|y| (0..64).map(move |x| (x, y)));
    let is_seen = |(x, y): &(usize, usize)| label.at(*x, *y)[0] != RenderLabel::EMPTY.value();
    pixels.filter(is_seen).count()
}

#[test]
fn images_show_the_role_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let shape = |kind: &str, radius: f64| {
        format!("<{kind}><geometry><sphere radius='{radius}'/></geometry></{kind}>")
    };
    let both = shape("visual", 0.1) + &shape("collision", 0.3);
    let both = robot(folder.path(), &both);
    let visual = seen_pixels(&both, &out, &[]);
    assert!(visual > 0);
    for role in ["perception", "illustration"] {
        assert_eq!(
            seen_pixels(&both, &out, &["--role", role]),
            visual,
            "{role}"
        );
    }
    let collision = seen_pixels(&both, &out, &["--role", "proximity"]);
    // The area of a disk of three times the radius, up to the pixels of its edge.
    assert!(
        collision > 6 * visual && collision < 13 * visual,
        "{visual} {collision}"
    );
    assert_eq!(seen_pixels(&both, &out, &["--role", "all"]), collision);

    // Collision geometry is not seen unasked, and the message names the cure.
    let only = robot(folder.path(), &shape("collision", 0.3));
    assert_eq!(seen_pixels(&only, &out, &[]), 0);
    assert_eq!(
        seen_pixels(&only, &out, &["--role", "proximity"]),
        collision
    );
    let output = render_model(&only, &out, &["--images", "color"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("--role proximity draws its 1 collision shape"),
        "{said}"
    );
    fails(
        &render_model(&only, &out, &["--strict"]),
        &["--role proximity"],
    );
}

#[test]
fn many_missing_files_are_one_line_unless_verbose() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut visuals = String::new();
    for i in 0..120 {
        let obj = format!("mtllib none{i}.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
        std::fs::write(folder.path().join(format!("m{i}.obj")), obj).unwrap();
        visuals += &mesh(&format!("m{i}.obj"));
    }
    let model = robot(folder.path(), &visuals);
    let options = ["--images", "color"];
    let lines = |more: &[&str]| {
        let output = render_model(&model, &out, &[&options, more].concat());
        succeeds(&output);
        let said = text(&output.stderr);
        let lines = said.lines().filter(|line| line.contains(".mtl"));
        lines.map(String::from).collect::<Vec<_>>()
    };
    let few = lines(&[]);
    assert_eq!(few.len(), 1, "{few:?}");
    for words in [
        "none0.mtl",
        "none1.mtl",
        "none2.mtl",
        "120 alike",
        "--verbose",
    ] {
        assert!(few[0].contains(words), "'{words}' is not in: {few:?}");
    }
    assert_eq!(lines(&["--verbose"]).len(), 120);
}
