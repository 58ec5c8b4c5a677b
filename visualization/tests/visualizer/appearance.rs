//! Roles, colours, surfaces and opacity.

use super::*;
use tarragon_geometry::mesh::TextureImage;
use tarragon_geometry::{BoxShape, HeightField, InMemoryMesh, MemoryFile, Mesh, ProjectedTexture};

#[test]
fn role_colour_and_accepting_property_select_what_is_shown() {
    let meshcat = server();
    let mut toys = Toys::new();
    let collision = |name: &str, accepting: Option<&str>| {
        let mut role = ProximityProperties::new();
        if let Some(prefix) = accepting {
            role.set_untyped("meshcat", "accepting", prefix.to_owned());
        }
        GeometryInstance::new(at(0.0, 0.0, 0.0), Sphere::new(0.1).unwrap(), name)
            .unwrap()
            .with_proximity(role)
    };
    toys.anchored("illustrated", at(0.0, 0.0, 0.0));
    for instance in [
        collision("plain", None),
        collision("mine", Some("mine")),
        collision("other", Some("other")),
    ] {
        toys.scene
            .register_anchored_geometry(toys.source, instance)
            .unwrap();
    }
    let params = |prefix: &str, unspecified| MeshcatVisualizerParams {
        role: Role::Proximity,
        prefix: prefix.into(),
        default_color: Rgba::new(1.0, 0.0, 0.5, 1.0).unwrap(),
        visible_by_default: false,
        include_unspecified_accepting: unspecified,
        ..Default::default()
    };
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", toys.scene);
    for (prefix, unspecified) in [("mine", true), ("strict", false)] {
        let params = params(prefix, unspecified);
        MeshcatVisualizer::add_to_builder(&mut b, scene.query, meshcat.clone(), params).unwrap();
    }
    let ctx = b.build().unwrap().default_context();
    ctx.force_publish().unwrap();
    let tree = Tree::of(&meshcat, "/drake/");
    assert_eq!(tree.objects, ["/drake/mine/mine", "/drake/mine/plain"]);
    let visible = tree.property("/drake/mine", "visible").unwrap();
    assert_eq!(*visible, false.into());
    let replay = Page::connect(&meshcat).replay();
    let object = replay.iter().find(|m| is("set_object")(m)).unwrap();
    let object = field(object, "object").unwrap();
    let material = &field(&object, "materials").unwrap()[0];
    assert_eq!(field(material, "color").unwrap().as_u64(), Some(0xff_00_7f));
}

/// A primitive with images from its centre is an OBJ mesh with six materials and their images.
#[test]
fn projected_textures_are_sent_with_their_images() {
    let meshcat = server();
    let mut toys = Toys::new();
    // Only browsers read images.
    let image = TextureImage::Content((*b"an image").into());
    let images = [0; 6].map(|_| image.clone());
    let texture = ProjectedTexture::from_center(images, Vector3::repeat(1.0)).unwrap();
    let color = Rgba::new(1.0, 0.5, 0.25, 0.75).unwrap();
    let texture = texture.with_color(color);
    let dice = BoxShape::new(1.0, 1.0, 1.0).unwrap();
    let dice = GeometryInstance::new(at(0.0, 0.0, 0.0), dice, "dice").unwrap();
    let dice =
        dice.with_illustration(IllustrationProperties::new().with_projected_texture(texture));
    toys.scene
        .register_anchored_geometry(toys.source, dice)
        .unwrap();
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", toys.scene);
    let params = MeshcatVisualizerParams::default();
    MeshcatVisualizer::add_to_builder(&mut b, scene.query, meshcat.clone(), params).unwrap();
    let ctx = b.build().unwrap().default_context();
    ctx.force_publish().unwrap();
    let replay = Page::connect(&meshcat).replay();
    let object = replay.iter().find(|m| is("set_object")(m)).unwrap();
    let object = field(&field(object, "object").unwrap(), "object").unwrap();
    let text = |key| field(&object, key).unwrap().as_str().unwrap().to_owned();
    assert_eq!(
        (text("type"), text("format")),
        ("_meshfile_object".into(), "obj".into())
    );
    let data = text("data");
    assert_eq!(data.matches("usemtl image").count(), 6);
    // Two triangles per square of a grid of 8 x 8 on each face.
    assert_eq!(data.matches("\nf ").count(), 6 * 64 * 2);
    let library = text("mtl_library");
    assert_eq!(
        library
            .matches("Kd 1 0.5 0.25\nd 0.75\nmap_Kd image")
            .count(),
        6
    );
    let resources = field(&object, "resources").unwrap();
    let resources = resources.as_map().unwrap();
    assert_eq!(resources.len(), 6);
    assert!(resources.iter().all(|(name, uri)| {
        name.as_str().unwrap().ends_with(".png")
            && uri.as_str().unwrap().starts_with("data:image/png;base64,")
    }));
}

#[test]
fn hydroelastic_geometry_is_shown_as_its_mesh() {
    let meshcat = server();
    let mut toys = Toys::new();
    let rigid = ProximityProperties::new().with_rigid_hydroelastic();
    let rigid = rigid.with_resolution_hint(0.1).unwrap();
    // Two walls at a right angle.
    let walls = "v 0 0 0\nv 3 0 0\nv 3 1 0\nv 1 1 0\nv 1 3 0\nv 0 3 0\n\
                 v 0 0 1\nv 3 0 1\nv 3 1 1\nv 1 1 1\nv 1 3 1\nv 0 3 1\n\
                 f 1 6 5 4\nf 1 4 3 2\nf 7 8 9 10\nf 7 10 11 12\nf 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\n\
                 f 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";
    let walls = Mesh::new(InMemoryMesh::new(MemoryFile::new(walls, ".obj", "walls")));
    let pieces = ProximityProperties::new();
    let pieces = pieces.with_convex_decomposition(8).unwrap();
    let hull = walls.convex_hull().unwrap().to_triangles().num_triangles();
    let decomposed = walls.convex_pieces(8).unwrap();
    let of_pieces = decomposed
        .iter()
        .map(|p| p.convex_hull().unwrap().to_triangles());
    let of_pieces: usize = of_pieces.map(|surface| surface.num_triangles()).sum();
    let walls = GeometryInstance::new(at(0.0, 0.0, 0.0), walls, "walls").unwrap();
    let walls = walls.with_proximity(pieces);
    toys.scene
        .register_anchored_geometry(toys.source, walls)
        .unwrap();
    for (name, role) in [("rigid", rigid), ("other", ProximityProperties::new())] {
        let sphere = Sphere::new(0.1).unwrap();
        let ball = GeometryInstance::new(at(0.0, 0.0, 0.0), sphere, name)
            .unwrap()
            .with_proximity(role);
        toys.scene
            .register_anchored_geometry(toys.source, ball)
            .unwrap();
    }
    let params = MeshcatVisualizerParams {
        role: Role::Proximity,
        show_hydroelastic: true,
        ..Default::default()
    };
    let shown = show(toys, &meshcat, params);
    shown.diagram.default_context().force_publish().unwrap();
    let replay = Page::connect(&meshcat).replay();
    let geometry = |name: &str| {
        let path = format!("/drake/visualizer/{name}");
        let is_it = |m: &&rmpv::Value| {
            is("set_object")(m)
                && field(m, "path").and_then(|p| p.as_str().map(|p| p == path)) == Some(true)
        };
        let object = field(replay.iter().find(is_it).unwrap(), "object").unwrap();
        field(&object, "geometries").unwrap()[0].clone()
    };
    let geometry_type = |name: &str| {
        let found = field(&geometry(name), "type").unwrap();
        found.as_str().unwrap().to_owned()
    };
    let data = field(&geometry("walls"), "data").unwrap();
    let index = field(&data, "index").and_then(|index| field(&index, "array"));
    let rmpv::Value::Ext(_, index) = index.unwrap() else {
        panic!("the indices must be a typed array");
    };
    // Three numbers of 4 bytes per triangle.
    assert!(of_pieces > hull);
    assert_eq!(index.len(), 12 * of_pieces);
    assert_eq!(geometry_type("rigid"), "BufferGeometry");
    assert_eq!(geometry_type("other"), "SphereGeometry");
}

#[test]
fn the_alpha_slider_sets_the_opacity() {
    let meshcat = server();
    let mut toys = Toys::new();
    toys.anchored("ball", at(0.0, 0.0, 0.0));
    let params = MeshcatVisualizerParams {
        enable_alpha_slider: true,
        initial_alpha_slider_value: 0.53,
        ..Default::default()
    };
    let shown = show(toys, &meshcat, params.clone());
    let name = "visualizer \u{3b1}";
    assert_eq!(meshcat.slider_names(), [name]);
    // Drake's slider also rounds 0.53 to 0.54.
    assert_eq!(meshcat.slider_value(name).unwrap(), 0.54);
    let ctx = shown.diagram.default_context();
    let alphas = || {
        ctx.force_publish().unwrap();
        let tree = Tree::of(&meshcat, "/drake/visualizer");
        let alpha = |path| {
            let value = tree.property(path, "modulated_opacity").unwrap();
            value.as_f64().unwrap()
        };
        [alpha("/drake/visualizer"), alpha("/drake/visualizer/ball")]
    };
    assert_eq!(alphas(), [0.54; 2]);
    for alpha in [0.2, 1.0] {
        meshcat.set_slider_value(name, alpha).unwrap();
        assert_eq!(alphas(), [alpha; 2]);
    }
    // Without the slider, the opacity stays. Visualizers with the same prefix share a new slider.
    meshcat.delete_added_controls();
    assert_eq!(alphas(), [1.0; 2]);
    drop(MeshcatVisualizer::new(meshcat.clone(), params.clone()).unwrap());
    MeshcatVisualizer::new(meshcat.clone(), params).unwrap();
    assert_eq!(meshcat.slider_names(), [name]);
}

/// The page gets all points of a height field, with the two triangles of every cell, in single
/// precision.
#[test]
fn height_fields_are_shown_with_all_their_points() {
    let heights = vec![0.0, 0.5, 0.25, 1.0, -0.125, 0.75];
    let field = HeightField::new(2, 3, heights.clone(), [2.0, 1.0], 0.5).unwrap();
    let meshcat = server();
    let mut toys = Toys::new();
    let terrain = GeometryInstance::new(at(0.0, 0.0, 0.0), field, "terrain")
        .unwrap()
        .with_illustration(IllustrationProperties::default());
    toys.scene
        .register_anchored_geometry(toys.source, terrain)
        .unwrap();
    let shown = show(toys, &meshcat, MeshcatVisualizerParams::default());
    shown.diagram.default_context().force_publish().unwrap();
    let replay = Page::connect(&meshcat).replay();
    let object = deformable::on_path(&replay, "set_object", "/drake/visualizer/terrain");
    let (positions, faces) = deformable::contents(object[0]);
    let corners = |t: &[u32]| -> Vec<[f32; 3]> {
        let at = |i: &u32| 3 * *i as usize;
        t.iter()
            .map(|i| [0, 1, 2].map(|k| positions[at(i) + k]))
            .collect()
    };
    let triangles: Vec<_> = faces.chunks(3).map(corners).collect();
    // Of the triangles seen from above, each point of the grid belongs to one at least.
    let mut upper = 0;
    for t in &triangles {
        let [u, v] = [1, 2].map(|i| [0, 1].map(|k| t[i][k] - t[0][k]));
        if u[0] * v[1] - u[1] * v[0] <= 0.0 {
            continue;
        }
        upper += 1;
        for p in t {
            let (column, row) = ((p[0] + 1.0) as usize, (p[1] + 0.5) as usize);
            assert_eq!(f64::from(p[2]), heights[3 * row + column], "{t:?}");
        }
    }
    assert_eq!(upper, 4);
    let lowest = positions.iter().skip(2).step_by(3);
    assert_eq!(lowest.fold(f32::MAX, |low, z| low.min(*z)), -0.625);
}
