//! `<geom>`.

use super::*;
use std::f64::consts::PI;
use tarragon_geometry::{CoulombFriction, GeometryId, Rgba, Role, SceneGraphInspector, Shape};

/// A body with the given geoms, and with an inertia so that they need no mass.
fn body(geoms: &str) -> Loaded {
    let inertial = "<inertial mass='1' diaginertia='1 1 1'/>";
    world(&format!("<body name='a'><joint/>{inertial}{geoms}</body>"))
}

fn geometries(m: &Loaded) -> (SceneGraphInspector<'_>, Vec<GeometryId>) {
    let inspector = m.scene.model_inspector();
    (inspector, inspector.geometry_ids().collect())
}

fn dimensions(shape: &Shape) -> Vec<f64> {
    match shape {
        Shape::Box(s) => s.size().as_slice().to_vec(),
        Shape::Sphere(s) => vec![s.radius()],
        Shape::Ellipsoid(s) => s.semi_axes().as_slice().to_vec(),
        Shape::Capsule(s) => vec![s.radius(), s.length()],
        Shape::Cylinder(s) => vec![s.radius(), s.length()],
        _ => vec![],
    }
}

#[test]
fn sizes_are_half_sizes() {
    for (geom, name, expected) in [
        ("type='plane'", "HalfSpace", &[][..]),
        ("size='.1 9 9'", "Sphere", &[0.1][..]),
        ("type='box' size='1 2 3'", "Box", &[2.0, 4.0, 6.0]),
        (
            "type='ellipsoid' size='1 2 3'",
            "Ellipsoid",
            &[1.0, 2.0, 3.0],
        ),
        ("type='capsule' size='1 2'", "Capsule", &[1.0, 4.0]),
        ("type='cylinder' size='1 2'", "Cylinder", &[1.0, 4.0]),
    ] {
        let m = body(&format!("<geom {geom} pos='1 2 3'/>"));
        let (inspector, ids) = geometries(&m);
        let shape = inspector.shape(ids[0]).unwrap();
        assert_eq!((shape.type_name(), &*dimensions(shape)), (name, expected));
        near(
            numbers(inspector.pose_in_frame(ids[0]).unwrap()),
            [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0],
        );
        assert!(m.warnings().is_empty(), "{:?}", m.warnings());
    }
}

#[test]
fn capsules_and_cylinders_can_be_given_by_end_points() {
    let m = body("<geom type='capsule' size='.1' fromto='0 0 0 0 2 0' pos='5 5 5'/>");
    let (inspector, ids) = geometries(&m);
    assert_eq!(dimensions(inspector.shape(ids[0]).unwrap()), [0.1, 2.0]);
    let s = 0.5_f64.sqrt();
    near(
        numbers(inspector.pose_in_frame(ids[0]).unwrap()),
        [s, -s, 0.0, 0.0, 0.0, 1.0, 0.0],
    );
    let m = body("<geom type='cylinder' size='.1' fromto='0 0 0 0 0 -1'/>");
    let (inspector, ids) = geometries(&m);
    near(
        numbers(inspector.pose_in_frame(ids[0]).unwrap()),
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -0.5],
    );
    for kind in ["box", "ellipsoid"] {
        let m = body(&format!(
            "<geom type='{kind}' size='1 1 1' fromto='0 0 0 1 1 1'/>"
        ));
        m.warns(&["'fromto' of a", kind, "left out"]);
        assert!(geometries(&m).1.is_empty());
    }
}

#[test]
fn geoms_have_all_roles_unless_the_file_says_otherwise() {
    let roles = |geom: &str| {
        let m = body(&format!("<geom size='1' {geom}/>"));
        let count = |role| m.scene.model_inspector().num_geometries_with_role(role);
        [Role::Proximity, Role::Illustration, Role::Perception].map(count)
    };
    assert_eq!(roles(""), [1, 1, 1]);
    assert_eq!(roles("group='2'"), [1, 1, 1]);
    assert_eq!(roles("group='3'"), [1, 0, 0]);
    assert_eq!(roles("contype='0' conaffinity='0'"), [0, 1, 1]);
    assert_eq!(roles("contype='0'"), [1, 1, 1]);
    assert_eq!(roles("group='5' contype='0' conaffinity='0'"), [0, 0, 0]);
    body("<geom size='1' contype='2'/>").warns(&["contype=2.0 and conaffinity=1.0 are ignored"]);
    body("<geom size='1' condim='4'/>").warns(&["condim=4.0 is ignored"]);
    body("<geom size='1' friction='1 .1'/>").warns(&["torsional and rolling"]);
    body("<geom size='1' fluidshape='1'/>").warns(&["fluidshape"]);
}

#[test]
fn geoms_without_names_are_numbered_per_body() {
    let m = body(
        "<geom type='hfield'/><geom size='1'/><geom size='1' group='4' contype='0' conaffinity='0'/><geom size='1'/>",
    );
    m.warns(&["hfield", "left out"]);
    let (inspector, ids) = geometries(&m);
    let names: Vec<&str> = ids.iter().map(|g| inspector.name(*g).unwrap()).collect();
    // A geom that is left out does not count; a geom without a role does.
    assert_eq!(names, ["m::geom0", "m::geom0", "m::geom2", "m::geom2"]);
    let m = world("<body><geom size='1'/></body><geom size='1'/>");
    let (inspector, ids) = geometries(&m);
    // Geoms of the world come first, and their names have no model scope.
    assert_eq!(inspector.name(ids[0]).unwrap(), "geom0");
}

#[test]
fn colours_and_friction_are_read() {
    let m = world_and(
        "<geom name='a' size='1'/><geom name='b' size='1' material='red' friction='.5'/>
         <geom name='c' size='1' material='red' rgba='0 1 0 .5'/><geom name='d' size='1' material='plain'/>",
        "<asset><material name='red' rgba='1 0 0 1'/><material name='plain'/></asset>",
    );
    assert!(m.warnings().is_empty(), "{:?}", m.warnings());
    let (inspector, ids) = geometries(&m);
    let look = |i: usize| {
        let rgba = inspector
            .illustration_properties(ids[2 * i])
            .unwrap()
            .unwrap();
        let friction = inspector
            .proximity_properties(ids[2 * i + 1])
            .unwrap()
            .unwrap();
        let friction = friction
            .get::<CoulombFriction>("material", "coulomb_friction")
            .unwrap();
        assert_eq!(friction.static_friction(), friction.dynamic_friction());
        (
            rgba.get::<Rgba>("phong", "diffuse").unwrap().rgba(),
            friction.static_friction(),
        )
    };
    assert_eq!(look(0), ([0.5, 0.5, 0.5, 1.0], 1.0));
    assert_eq!(look(1), ([1.0, 0.0, 0.0, 1.0], 0.5));
    assert_eq!(look(2), ([0.0, 1.0, 0.0, 0.5], 1.0));
    assert_eq!(look(3), ([0.5, 0.5, 0.5, 1.0], 1.0));
    body("<geom size='1' material='blue'/>").warns(&["no material 'blue'"]);
    world_and("", "<asset><texture name='t'/></asset>").warns(&["<texture> is ignored"]);
    let m = world_and("", "<asset><material/></asset>");
    assert!(
        m.error().contains("<material> has no attribute 'name'"),
        "{}",
        m.error()
    );
}

#[test]
fn mass_is_given_or_computed_with_the_density_of_water() {
    let inertia = |geom: &str| world(&format!("<body name='a'><joint/>{geom}</body>")).inertia("a");
    let ball = inertia("<geom size='.1'/>");
    near([ball.mass()], [4.0 / 3.0 * PI]);
    near(
        [ball.rotational_inertia()[(0, 0)]],
        [0.4 * ball.mass() * 0.01],
    );
    near(
        [inertia("<geom size='.1' density='3'/>").mass()],
        [4e-3 * PI],
    );
    let ball = inertia("<geom size='.1' mass='2' density='3' pos='0 0 1'/>");
    assert_eq!((ball.mass(), ball.center_of_mass()), (2.0, Vector3::z()));
    near(
        [ball.rotational_inertia()[(0, 0)]],
        [2.0 + 0.4 * 2.0 * 0.01],
    );
    // Two balls of 1 kg at x = 1 m and -1 m: 2 kg m^2 about y and z, besides their own inertia.
    let two = inertia(
        "<geom size='.1' mass='1' pos='1 0 0'/><geom size='.1' mass='1' pos='-1 0 0'/><geom type='plane' mass='9'/>",
    );
    near(two.center_of_mass().iter().copied(), [0.0; 3]);
    near(
        two.rotational_inertia().diagonal().iter().copied(),
        [0.008, 2.008, 2.008],
    );
    // A rod along (1, 1, 1): the numbers are Drake's.
    let rod = inertia("<geom type='capsule' size='.1' fromto='0 0 0 1 1 1'/>");
    assert!((rod.mass() - 58.6027711318).abs() < 1e-9);
    let central = rod.rotational_inertia()[(0, 1)] + rod.mass() * 0.25;
    assert!((central - -5.627040946).abs() < 1e-8);
    assert_eq!(inertia("<geom size='.1' mass='0'/>").mass(), 0.0);
    // With <inertial>, geoms need neither volume nor mass.
    let m = body("<geom size='0' mass='-1'/>");
    assert_eq!(m.inertia("a").mass(), 1.0);
}

#[test]
fn a_sphere_without_size_is_a_point() {
    let m = world("<body name='a'><joint/><geom/></body>");
    m.warns(&["sphere without 'size'"]);
    assert_eq!(m.inertia("a").mass(), 0.0);
}

#[test]
fn impossible_geoms_are_errors() {
    for (geom, word) in [
        ("size='0'", "no volume"),
        ("size='-1'", "radius"),
        ("size='x'", "attribute 'size' must hold numbers, got 'x'"),
        (
            "type='box' size='1'",
            "'size' of a box must have at least 3 numbers, got 1",
        ),
        ("type='box' size='1 1 0'", "geom 'geom0'"),
        ("type='capsule' size='1'", "at least 2"),
        (
            "type='capsule' size='1' fromto='1 1 1 1 1 1'",
            "must differ",
        ),
        ("type='cylinder' fromto='1 1 1 1 1 2'", "at least 1"),
        ("type='cone' size='1'", "got 'cone'"),
        ("type='mesh'", "no attribute 'mesh'"),
        ("size='1' mass='-1'", "got -1.0 kg"),
        ("size='1' mass='1e999'", "must be finite"),
        ("size='1' density='-1'", "got -4.18879"),
        ("size='1' rgba='2 0 0 1'", "2"),
        ("size='1' rgba='1 0 0'", "must have 4 numbers"),
        ("size='1' friction='-1'", "friction"),
    ] {
        let m = world(&format!("<body>\n<joint/>\n <geom {geom}/></body>"));
        let e = m.error();
        assert!(
            e.contains("<literal>.xml:3:") && e.contains(word),
            "{geom}: {e}"
        );
    }
}
