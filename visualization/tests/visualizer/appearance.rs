//! Roles, colours, surfaces and opacity.

use super::*;

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

#[test]
fn hydroelastic_geometry_is_shown_as_its_mesh() {
    let meshcat = server();
    let mut toys = Toys::new();
    let rigid = ProximityProperties::new().with_rigid_hydroelastic();
    let rigid = rigid.with_resolution_hint(0.1).unwrap();
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
    let geometry_type = |name: &str| {
        let path = format!("/drake/visualizer/{name}");
        let is_it = |m: &&rmpv::Value| {
            is("set_object")(m)
                && field(m, "path").and_then(|p| p.as_str().map(|p| p == path)) == Some(true)
        };
        let object = field(replay.iter().find(is_it).unwrap(), "object").unwrap();
        let geometry = &field(&object, "geometries").unwrap()[0];
        field(geometry, "type")
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    };
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
