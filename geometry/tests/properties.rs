//! Geometry properties, untyped and typed, and the defaults of a scene.

use nalgebra::{Isometry3, Vector4};
use tarragon_framework::AutoDiff;
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    BoxShape, CoulombFriction, GeometryId, GeometryInstance, GeometryProperties, HalfSpace,
    HydroelasticType, IllustrationProperties, ProximityProperties, Rgba, Role, RoleAssign,
    SceneGraph, SceneGraphConfig, SceneGraphPorts, Shape, SourceId, Sphere,
};

#[test]
fn properties_are_found_by_group_and_name() {
    let mut p = ProximityProperties::new();
    assert_eq!(
        (
            p.num_groups(),
            p.has_group(GeometryProperties::DEFAULT_GROUP)
        ),
        (1, true)
    );
    p.add("g", "count", 7_i32).unwrap();
    p.add(GeometryProperties::DEFAULT_GROUP, "count", 8_i32)
        .unwrap();
    assert_eq!(
        (*p.get::<i32>("g", "count").unwrap(), p.num_groups()),
        (7, 2)
    );
    let text = |e: Option<tarragon_geometry::Error>| e.unwrap().to_string();
    assert!(text(p.add("g", "count", 1_i32).err()).contains("('g', 'count') exists already"));
    assert!(text(p.update("g", "count", 1.0).err()).contains("i32"));
    p.update("g", "count", 9_i32).unwrap();
    p.update("g", "new", "text".to_owned()).unwrap();
    assert_eq!(p.get_or("g", "count", 0_i32).unwrap(), 9);
    assert_eq!(p.get_or("g", "missing", 5_i32).unwrap(), 5);
    assert!(p.get_or("g", "count", 0.5).is_err());
    assert!(
        text(p.get::<i32>("h", "a").err())
            .contains("there is no group 'h'; groups: [__default__, g]")
    );
    assert!(text(p.get::<i32>("g", "a").err()).contains("properties of that group: [count, new]"));
    let names: Vec<&str> = p
        .properties_in_group("g")
        .unwrap()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["count", "new"]);
    assert!(p.properties_in_group("h").is_err());
    let copy = p.clone();
    assert!(p.remove("g", "count") && !p.remove("g", "count") && p.remove("g", "new"));
    assert!(p.has_group("g"), "a group outlives its properties");
    assert!(copy.has("g", "count"), "a copy is independent");
    let other = IllustrationProperties::from((*copy).clone());
    assert!(other.has("g", "new"));
}

#[test]
fn colours_can_be_read_and_written_as_vectors() {
    let mut p = IllustrationProperties::phong(Rgba::new(1.0, 0.5, 0.25, 0.75).unwrap());
    let vector = Vector4::new(1.0, 0.5, 0.25, 0.75);
    assert_eq!(p.get::<Vector4<f64>>("phong", "diffuse").unwrap(), &vector);
    let other = Vector4::new(0.1, 0.2, 0.3, 0.4);
    p.update("phong", "diffuse", other).unwrap();
    assert_eq!(
        Vector4::from(*p.get::<Rgba>("phong", "diffuse").unwrap()),
        other
    );
    // A vector that is not a valid colour stays a vector.
    let large = Vector4::new(5.0, 0.0, 0.0, 0.0);
    p.set_untyped("g", "v", large);
    assert_eq!(p.get::<Vector4<f64>>("g", "v").unwrap(), &large);
    assert!(p.get::<Rgba>("g", "v").is_err() && Rgba::try_from(large).is_err());
    let mut color = Rgba::default();
    color.update(None, Some(0.5), None, None).unwrap();
    assert!(color.update(Some(2.0), None, None, None).is_err());
    assert_eq!(color.rgba(), [1.0, 0.5, 1.0, 1.0]);
    assert_eq!(color.scale_rgb(1.5).unwrap().rgba(), [1.0, 0.75, 1.0, 1.0]);
    assert!(color.scale_rgb(-1.0).is_err());
}

#[test]
fn typed_properties_have_drakes_names_and_domains() {
    let rubber = CoulombFriction::new(1.0, 0.5).unwrap();
    let new = ProximityProperties::new;
    let p = new()
        .with_friction(rubber)
        .with_dissipation(0.0)
        .and_then(|p| p.with_point_stiffness(1e5))
        .and_then(|p| p.with_relaxation_time(0.2))
        .unwrap();
    assert_eq!(
        p.get::<CoulombFriction>("material", "coulomb_friction")
            .unwrap(),
        &rubber
    );
    let named = |list: &[(&str, f64)]| -> Vec<(String, f64)> {
        list.iter()
            .map(|(name, v)| (name.to_string(), *v))
            .collect()
    };
    let expected = named(&[
        ("hunt_crossley_dissipation", 0.0),
        ("point_contact_stiffness", 1e5),
        ("relaxation_time", 0.2),
    ]);
    assert_eq!(numbers(&p), expected);
    let stiffer = p.with_point_stiffness(2e5).unwrap();
    let stiffness = stiffer.get::<f64>("material", "point_contact_stiffness");
    assert_eq!(
        *stiffness.unwrap(),
        2e5,
        "a second value replaces the first"
    );

    let kind = |p: &ProximityProperties| -> HydroelasticType {
        *p.get("hydroelastic", "compliance_type").unwrap()
    };
    let rigid = new().with_rigid_hydroelastic();
    assert_eq!(
        (kind(&rigid), numbers(&rigid)),
        (HydroelasticType::Rigid, vec![])
    );
    let soft = rigid
        .with_compliant_hydroelastic(f64::INFINITY)
        .and_then(|p| p.with_slab_thickness(0.1))
        .and_then(|p| p.with_resolution_hint(0.2))
        .and_then(|p| p.with_hydroelastic_margin(0.0))
        .unwrap();
    assert_eq!(kind(&soft), HydroelasticType::Compliant);
    let expected = named(&[
        ("hydroelastic_modulus", f64::INFINITY),
        ("margin", 0.0),
        ("resolution_hint", 0.2),
        ("slab_thickness", 0.1),
    ]);
    assert_eq!(numbers(&soft), expected);

    type Set = fn(ProximityProperties, f64) -> tarragon_geometry::Result<ProximityProperties>;
    let domains: [(&str, Set, &[f64]); 7] = [
        (
            "point_contact_stiffness",
            ProximityProperties::with_point_stiffness,
            &[0.0],
        ),
        (
            "hunt_crossley_dissipation",
            ProximityProperties::with_dissipation,
            &[],
        ),
        (
            "relaxation_time",
            ProximityProperties::with_relaxation_time,
            &[f64::INFINITY],
        ),
        (
            "hydroelastic_modulus",
            ProximityProperties::with_compliant_hydroelastic,
            &[0.0],
        ),
        (
            "resolution_hint",
            ProximityProperties::with_resolution_hint,
            &[0.0, f64::INFINITY],
        ),
        (
            "slab_thickness",
            ProximityProperties::with_slab_thickness,
            &[0.0, f64::INFINITY],
        ),
        (
            "margin",
            ProximityProperties::with_hydroelastic_margin,
            &[f64::INFINITY],
        ),
    ];
    for (name, set, bad) in domains {
        for value in [-1.0, f64::NAN].iter().chain(bad) {
            let error = set(new(), *value).unwrap_err().to_string();
            let expected = format!("{name} must be ");
            assert!(error.starts_with(&expected), "{name} {value}: {error}");
            assert!(error.ends_with(&format!("got {value:?}")), "{error}");
        }
    }
    assert_eq!(
        "rigid".parse::<HydroelasticType>().unwrap(),
        HydroelasticType::Rigid
    );
    let e = "soft".parse::<HydroelasticType>().unwrap_err().to_string();
    assert!(e.contains("'undefined', 'rigid' or 'compliant'"), "{e}");
}

/// A scene and its only geometry, which has a proximity role.
struct World {
    scene: SceneGraph,
    source: SourceId,
    id: GeometryId,
}

fn world(shape: impl Into<Shape>, p: ProximityProperties, config: SceneGraphConfig) -> World {
    let mut scene = SceneGraph::with_config(config).unwrap();
    let source = scene.register_source("toys").unwrap();
    let instance = GeometryInstance::new(Isometry3::identity(), shape, "a")
        .unwrap()
        .with_proximity(p);
    let id = scene.register_anchored_geometry(source, instance).unwrap();
    World { scene, source, id }
}

impl World {
    fn context(&self) -> (Context<f64>, SceneGraphPorts<f64>) {
        let mut b = DiagramBuilder::new();
        let block = b.add("scene", self.scene.clone());
        (b.build().unwrap().default_context(), block.ports().clone())
    }
}

/// Names and values of all numeric properties. The expected values are recorded from Drake 1.51.1.
fn numbers(p: &GeometryProperties) -> Vec<(String, f64)> {
    let groups = ["hydroelastic", "material"];
    let all = groups
        .iter()
        .filter_map(|g| p.properties_in_group(g).ok())
        .flatten();
    all.filter_map(|(name, value)| Some((name.to_owned(), *value.downcast_ref::<f64>()?)))
        .collect()
}

#[test]
fn contexts_get_defaults_for_undeclared_properties() {
    let w = world(
        Sphere::new(1.0).unwrap(),
        ProximityProperties::new(),
        SceneGraphConfig::default(),
    );
    let i = w.scene.model_inspector();
    assert_eq!(numbers(i.proximity_properties(w.id).unwrap().unwrap()), []);
    let (mut ctx, ports) = w.context();
    let expected = [
        ("hydroelastic_modulus", 1e7),
        ("resolution_hint", 0.02),
        ("hunt_crossley_dissipation", 50.0),
        ("point_contact_stiffness", 1e6),
        ("relaxation_time", 0.1),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    let check = |ctx: &Context<f64>, id: GeometryId| {
        let inspector = ctx.eval(ports.query).unwrap().inspector();
        let p = inspector.proximity_properties(id).unwrap().unwrap();
        assert_eq!(numbers(p), expected);
        let kind = p
            .get::<HydroelasticType>("hydroelastic", "compliance_type")
            .unwrap();
        assert_eq!(*kind, HydroelasticType::Undefined);
        let friction = p
            .get::<CoulombFriction>("material", "coulomb_friction")
            .unwrap();
        assert_eq!(
            (friction.static_friction(), friction.dynamic_friction()),
            (0.5, 0.5)
        );
    };
    check(&ctx, w.id);
    // Geometry that is added later and properties that are replaced get the defaults as well.
    let late = GeometryInstance::new(Isometry3::identity(), HalfSpace, "late").unwrap();
    let state = ports.geometry_mut(&mut ctx).unwrap();
    let late = late.with_proximity(ProximityProperties::new());
    let late = state.register_anchored_geometry(w.source, late).unwrap();
    let replacement = ProximityProperties::new();
    state
        .assign_role_with(w.source, w.id, replacement, RoleAssign::Replace)
        .unwrap();
    check(&ctx, w.id);
    check(&ctx, late);
}

#[test]
fn declared_properties_override_defaults() {
    let p = ProximityProperties::new()
        .with_friction(CoulombFriction::new(0.9, 0.8).unwrap())
        .with_dissipation(3.0)
        .and_then(|p| p.with_compliant_hydroelastic(7.0))
        .and_then(|p| p.with_resolution_hint(0.3))
        .unwrap();
    let mut config = SceneGraphConfig::default();
    let defaults = &mut config.default_proximity_properties;
    (defaults.margin, defaults.slab_thickness) = (Some(0.01), Some(0.1));
    (defaults.static_friction, defaults.dynamic_friction) = (None, None);
    (defaults.point_stiffness, defaults.compliance_type) = (None, HydroelasticType::Rigid);
    let w = world(Sphere::new(1.0).unwrap(), p, config);
    let (ctx, ports) = w.context();
    let inspector = ctx.eval(ports.query).unwrap().inspector();
    let p = inspector.proximity_properties(w.id).unwrap().unwrap();
    let expected = [
        ("hydroelastic_modulus", 7.0),
        ("margin", 0.01),
        ("resolution_hint", 0.3),
        ("slab_thickness", 0.1),
        ("hunt_crossley_dissipation", 3.0),
        ("relaxation_time", 0.1),
    ];
    assert_eq!(
        numbers(p),
        expected.map(|(name, value)| (name.to_owned(), value))
    );
    let kind = p
        .get::<HydroelasticType>("hydroelastic", "compliance_type")
        .unwrap();
    assert_eq!(*kind, HydroelasticType::Compliant);
    let friction = p
        .get::<CoulombFriction>("material", "coulomb_friction")
        .unwrap();
    assert_eq!(friction.static_friction(), 0.9);
}

#[test]
fn contexts_of_all_scalars_share_one_version() {
    let w = world(
        Sphere::new(1.0).unwrap(),
        ProximityProperties::new(),
        SceneGraphConfig::default(),
    );
    let mut b = DiagramBuilder::new();
    let block = b.add("scene", w.scene.clone());
    let diagram = b.build().unwrap();
    let dual = diagram.to_scalar::<AutoDiff>().unwrap();
    let (ctx, dual_ctx) = (diagram.default_context(), dual.default_context());
    let dual_query = dual_ctx.eval(dual.ports(&block).unwrap().query).unwrap();
    let version = ctx
        .eval(block.query)
        .unwrap()
        .inspector()
        .geometry_version();
    let same = |other, role| version.is_same_as(other, role).unwrap();
    assert!(same(
        dual_query.inspector().geometry_version(),
        Role::Proximity
    ));
    let model = w.scene.model_inspector().geometry_version();
    assert!(!same(model, Role::Proximity), "defaults were filled in");
    assert!(same(model, Role::Illustration) && same(model, Role::Perception));
}

#[test]
fn configurations_are_checked() {
    let refused = |change: fn(&mut tarragon_geometry::DefaultProximityProperties)| {
        let mut scene = SceneGraph::new();
        let mut config = SceneGraphConfig::default();
        change(&mut config.default_proximity_properties);
        let e = scene.set_config(config).err().map(|e| e.to_string());
        let unchanged = scene.config() == &SceneGraphConfig::default();
        assert!(e.is_none() || unchanged);
        e.unwrap_or_default()
    };
    let inf = f64::INFINITY;
    assert_eq!(refused(|d| d.margin = Some(0.0)), "");
    assert_eq!(
        refused(|d| d.hydroelastic_modulus = Some(f64::INFINITY)),
        ""
    );
    assert_eq!(
        refused(|d| d.hunt_crossley_dissipation = Some(f64::INFINITY)),
        ""
    );
    assert_eq!(
        refused(|d| d.hydroelastic_modulus = Some(-1.0)),
        "default_proximity_properties: hydroelastic_modulus must be positive, got -1.0"
    );
    assert!(
        refused(|d| d.resolution_hint = Some(0.0))
            .contains("resolution_hint must be positive and finite, got 0.0")
    );
    assert!(
        refused(|d| d.resolution_hint = Some(f64::NAN))
            .contains("resolution_hint must be positive and finite, got NaN")
    );
    assert!(
        refused(|d| d.slab_thickness = Some(0.0))
            .contains("slab_thickness must be positive and finite, got 0.0")
    );
    assert!(
        refused(|d| d.margin = Some(f64::INFINITY))
            .contains(&format!("margin must be finite and at least 0, got {inf}"))
    );
    assert!(
        refused(|d| d.relaxation_time = Some(-1.0))
            .contains("relaxation_time must be finite and at least 0, got -1.0")
    );
    assert!(
        refused(|d| d.point_stiffness = Some(0.0))
            .contains("point_contact_stiffness must be positive, got 0.0")
    );
    assert!(refused(|d| d.static_friction = None).contains("must both be set"));
    assert!(refused(|d| d.dynamic_friction = Some(0.6)).contains("static friction 0.5"));
}

#[test]
fn hydroelastic_properties_must_be_complete() {
    let compliant = |fill: fn(&mut ProximityProperties)| {
        let mut p = ProximityProperties::new();
        p.set_untyped(
            "hydroelastic",
            "compliance_type",
            HydroelasticType::Compliant,
        );
        p.set_untyped("hydroelastic", "hydroelastic_modulus", 1e6);
        p.set_untyped("hydroelastic", "resolution_hint", 0.5);
        fill(&mut p);
        p
    };
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let mut count = 0;
    let mut add = |scene: &mut SceneGraph, shape: Shape, p: ProximityProperties| {
        count += 1;
        let instance =
            GeometryInstance::new(Isometry3::identity(), shape, &format!("g{count}")).unwrap();
        let added = scene.register_anchored_geometry(source, instance.with_proximity(p));
        added
            .map(|_| ())
            .map_err(|e| e.to_string())
            .err()
            .unwrap_or_default()
    };
    let ball = || Shape::from(Sphere::new(1.0).unwrap());
    assert_eq!(add(&mut scene, ball(), compliant(|_| {})), "");
    // Defaults arrive in contexts, and do not complete what a model declares.
    for missing in ["hydroelastic_modulus", "resolution_hint"] {
        let mut incomplete = compliant(|_| {});
        assert!(incomplete.remove("hydroelastic", missing));
        let e = add(&mut scene, ball(), incomplete);
        assert!(
            e.contains(&format!("needs the property ('hydroelastic', '{missing}')")),
            "{e}"
        );
    }
    let e = add(&mut scene, HalfSpace.into(), compliant(|_| {}));
    assert!(
        e.contains("HalfSpace") && e.contains("('hydroelastic', 'slab_thickness')"),
        "{e}"
    );
    assert_eq!(
        add(
            &mut scene,
            HalfSpace.into(),
            compliant(|p| p.set_untyped("hydroelastic", "slab_thickness", 0.1))
        ),
        ""
    );
    let bad = compliant(|p| p.set_untyped("hydroelastic", "hydroelastic_modulus", -1.0));
    assert!(
        add(&mut scene, ball(), bad).contains("'hydroelastic_modulus') must be positive, got -1.0")
    );
    let bad = compliant(|p| p.set_untyped("hydroelastic", "margin", -1.0));
    let message = add(&mut scene, ball(), bad);
    assert!(
        message.contains("'margin') must be") && message.contains("got -1.0"),
        "{message}"
    );
    let bad =
        |p: &mut ProximityProperties| p.set_untyped("hydroelastic", "resolution_hint", "fine");
    assert!(add(&mut scene, ball(), compliant(bad)).contains("resolution_hint"));
    let cube = BoxShape::new(1.0, 1.0, 1.0).unwrap();
    assert_eq!(
        add(&mut scene, cube.into(), compliant(bad)),
        "",
        "boxes do not need the hint"
    );
    let mut undefined = compliant(bad);
    undefined.set_untyped(
        "hydroelastic",
        "compliance_type",
        HydroelasticType::Undefined,
    );
    assert_eq!(
        add(&mut scene, ball(), undefined),
        "",
        "the hint is ignored"
    );
    // Defaults that would make a registered half space compliant but incomplete are refused as a
    // whole.
    assert_eq!(
        add(&mut scene, HalfSpace.into(), ProximityProperties::new()),
        ""
    );
    let mut config = SceneGraphConfig::default();
    config.default_proximity_properties.compliance_type = HydroelasticType::Compliant;
    let e = scene.set_config(config).unwrap_err().to_string();
    assert!(e.starts_with("geometry 'g11' on frame 'world'"), "{e}");
    config.default_proximity_properties.slab_thickness = Some(0.1);
    scene.set_config(config).unwrap();
}
