//! Skyboxes: which one a parser returns, and when its images are made.

use crate::support::loaded::load_with;
use std::path::Path;
use tarragon_formats::*;
use tarragon_geometry::SceneGraph;
use tarragon_geometry::mesh::TextureImage;
use tarragon_geometry::render::CubeMap;
use tarragon_multibody::*;

const BOTH: [MjcfSemantics; 2] = [MjcfSemantics::Drake, MjcfSemantics::MuJoCo];

fn model(name: &str, assets: &str) -> String {
    format!("<mujoco model='{name}'><asset>{assets}</asset></mujoco>")
}

/// A skybox of one colour, with this red.
fn flat(red: f64) -> String {
    let color = format!("{red:?} 0 0");
    format!("<texture type='skybox' builtin='flat' width='4' rgb1='{color}' rgb2='{color}'/>")
}

/// Reads texts one after the other; returns the skybox and the messages.
fn read(semantics: MjcfSemantics, texts: &[&str]) -> (Result<Option<CubeMap>>, Vec<String>) {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.set_mjcf_semantics(semantics);
    for text in texts {
        let _ = parser.add_models_from_string(text, "xml");
    }
    let said = parser.diagnostics().iter().map(ToString::to_string);
    (parser.skybox(), said.collect())
}

fn red(sky: Result<Option<CubeMap>>) -> f64 {
    let means = sky.unwrap().unwrap().mean_colors().unwrap();
    assert!(means.iter().all(|mean| *mean == means[0]));
    means[0].r()
}

fn write(path: &Path, red: u8) {
    let mut encoder = png::Encoder::new(std::fs::File::create(path).unwrap(), 2, 2);
    encoder.set_color(png::ColorType::Rgb);
    let pixels = [red, 0, 0].repeat(4);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&pixels).unwrap();
}

#[test]
fn first_skybox_that_was_read_wins() {
    let two = model("a", &(flat(0.2) + &flat(0.4)));
    let other = model("b", &flat(0.6));
    let none = model("c", "");
    for semantics in BOTH {
        let (sky, said) = read(semantics, &[&none, &two, &other]);
        assert_eq!((red(sky), said), (0.2, vec![]));
        assert_eq!(red(read(semantics, &[&other, &two]).0), 0.6);
        assert_eq!(read(semantics, &[&none]).0.unwrap(), None);
    }
}

#[test]
fn files_that_fail_leave_no_skybox() {
    let bad = model("a", &(flat(0.2) + "<material/>"));
    let good = model("b", &flat(0.6));
    for semantics in BOTH {
        assert_eq!(red(read(semantics, &[&bad, &good]).0), 0.6);
        assert_eq!(red(read(semantics, &[&good, &bad]).0), 0.6);
        assert_eq!(read(semantics, &[&bad]).0.unwrap(), None);
    }
    // A warning of a strict parser fails, too.
    let doubtful = model("a", &(flat(0.2) + "<texture type='2d'/>"));
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.set_strict_parsing(true);
    parser.add_models_from_string(&doubtful, "xml").unwrap_err();
    assert_eq!(parser.skybox().unwrap(), None);
}

/// MuJoCo 3.3 attaches the skyboxes of models, too, after those of the model that attaches them.
#[test]
fn skyboxes_of_attached_models_come_along() {
    let folder = tempfile::tempdir().unwrap();
    let child = format!(
        "<mujoco model='child'><asset>{}</asset><worldbody><body name='b'><geom size='.1'/></body>
         </worldbody></mujoco>",
        flat(0.2)
    );
    std::fs::write(folder.path().join("child.xml"), child).unwrap();
    let file = folder.path().join("parent.xml");
    let check = |assets: &str, attach: &str, expected: Option<f64>| {
        let text = format!(
            "<mujoco model='parent'><asset><model name='c' file='child.xml'/>{assets}</asset>
             <worldbody>{attach}</worldbody></mujoco>"
        );
        std::fs::write(&file, text).unwrap();
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        let mut scene = SceneGraph::new();
        let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
        parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        parser.add_models(&file).unwrap();
        let sky = parser.skybox();
        match expected {
            Some(expected) => assert_eq!(red(sky), expected),
            None => assert_eq!(sky.unwrap(), None),
        }
    };
    let attach = "<frame><attach model='c' body='b' prefix='p_'/></frame>";
    check("", attach, Some(0.2));
    check(&flat(0.6), attach, Some(0.6));
    check("", "", None);
}

#[test]
fn images_are_read_when_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let [up, all] = ["up.png", "all.png"].map(|name| folder.path().join(name));
    write(&up, 51);
    write(&all, 102);
    let faces = model(
        "a",
        &format!("<texture type='skybox' fileup='{}'/>", up.display()),
    );
    let whole = model(
        "b",
        &format!("<texture type='skybox' file='{}'/>", all.display()),
    );
    for semantics in BOTH {
        let sky = read(semantics, &[&faces]).0.unwrap().unwrap();
        let means = sky.mean_colors().unwrap().map(|mean| mean.r());
        assert_eq!(means, [0.0, 0.0, 0.2, 0.0, 0.0, 0.0]);
        let sky = read(semantics, &[&whole]).0.unwrap().unwrap();
        assert_eq!(sky.images()[5], TextureImage::File(all.clone()));
    }
    // A file that is broken when it is needed is an error of that call only.
    std::fs::write(&up, "no image").unwrap();
    let (sky, said) = read(MjcfSemantics::MuJoCo, &[&faces]);
    assert_eq!(said, [""; 0]);
    let error = sky.unwrap_err().to_string();
    assert!(
        error.contains("the skybox: '") && error.contains("up.png"),
        "{error}"
    );
}

#[test]
fn missing_files_and_huge_sizes_are_warnings() {
    let missing = "<texture name='s' type='skybox' file='no/such.png'/>";
    let huge = "<texture name='s' type='skybox' builtin='flat' width='2000'/>";
    let vast = "<texture name='s' type='skybox' builtin='flat' width='2000000000'/>";
    let next = flat(0.4);
    for semantics in BOTH {
        for (assets, words) in [
            (missing, "the texture is left out"),
            (huge, "may have 16777216 pixels, got 24000000"),
            (vast, "may have 16777216 pixels, got "),
        ] {
            let (sky, said) = read(semantics, &[&model("a", assets)]);
            assert_eq!(sky.unwrap(), None);
            assert!(
                matches!(&*said, [one] if one.contains("warning") && one.contains(words)),
                "{said:?}"
            );
            // The next one takes its place.
            let (sky, _) = read(semantics, &[&model("a", &(assets.to_owned() + &next))]);
            assert_eq!(red(sky), 0.4);
        }
        // All builtin textures share a budget: two of these fit, the third does not.
        let large = "<texture type='skybox' builtin='flat' width='1600'/>";
        let (_, said) = read(semantics, &[&model("a", &large.repeat(3))]);
        assert!(
            said.iter().any(|s| s.contains("33554432 pixels together")),
            "{said:?}"
        );
    }
}

/// Drake reads files with skyboxes that MuJoCo refuses.
#[test]
fn wrong_skyboxes_are_left_out_where_drake_reads_the_file() {
    for (attributes, words) in [
        ("builtin='gradient'", "a width and a height of at least 1"),
        (
            "builtin='stripes' width='4'",
            "must be one of 'none', 'gradient'",
        ),
        ("builtin='flat' width='4' rgb1='red'", "rgb1"),
        ("file='x.png' gridsize='5 5'", "the texture is left out"),
    ] {
        let text = model("a", &format!("<texture type='skybox' {attributes}/>"));
        let load = |semantics| {
            load_with(|p| {
                p.set_mjcf_semantics(semantics);
                p.add_models_from_string(&text, "xml")
            })
        };
        let loaded = load(MjcfSemantics::Drake).ok();
        let warnings = loaded.warnings();
        assert!(warnings.iter().any(|w| w.contains(words)), "{warnings:?}");
        if !attributes.contains("file") {
            load(MjcfSemantics::MuJoCo).refuses(words);
        }
    }
}

#[test]
fn skyboxes_change_nothing_else() {
    let text = |assets: &str| {
        format!(
            "<mujoco model='m'><asset>{assets}</asset><worldbody><body><geom size='1'/></body>
             </worldbody></mujoco>"
        )
    };
    for semantics in BOTH {
        let loaded = |text: &str| {
            load_with(|p| {
                p.set_mjcf_semantics(semantics);
                p.add_models_from_string(text, "xml")
            })
        };
        let [with, without] = [loaded(&text(&flat(0.5))), loaded(&text(""))];
        with.says_nothing();
        let count = |scene: &SceneGraph| scene.model_inspector().num_geometries();
        assert_eq!(count(&with.scene), count(&without.scene));
    }
}
