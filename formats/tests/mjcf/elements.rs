//! Elements as MuJoCo reads them. Numbers without a closed form are those of MuJoCo 3.3.7 for the
//! same text.

use crate::support::loaded::{Built, Loaded, load_with};
use nalgebra::{Matrix3, Vector3};
use std::fs::write;
use std::path::Path;
use tarragon_formats::*;
use tarragon_geometry::Shape;
use tarragon_multibody::*;

/// Loads a text as MuJoCo reads it.
fn load(text: &str) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        p.add_models_from_string(text, "xml")
    })
}
/// A model with the elements `world` in its `<worldbody>`, and `others` before it.
fn world_after(others: &str, world: &str) -> Loaded {
    load(&format!(
        "<mujoco model='m'>{others}<worldbody>{world}</worldbody></mujoco>"
    ))
}
fn world(world: &str) -> Loaded {
    world_after("", world)
}

fn mass(model: &Built, body: &str) -> f64 {
    model.inertia(body).mass()
}
/// Position in the world of a body in the default configuration.
fn position(model: &Built, body: &str) -> Vector3<f64> {
    let q = model.plant.default_positions();
    let kinematics = model.plant.calc_position_kinematics(&q).unwrap();
    let body = model.plant.body_by_name(body).unwrap();
    kinematics.x_wb(body).translation.vector
}
#[track_caller]
fn close(a: f64, b: f64) {
    assert!(
        (a - b).abs() <= 1e-12 * b.abs().max(1.0),
        "{a:?} is not {b:?}"
    );
}
#[track_caller]
fn at(model: &Built, body: &str, expected: [f64; 3]) {
    let found = position(model, body);
    let distance = (found - Vector3::from(expected)).amax();
    assert!(distance < 1e-12, "{body} is at {found}, not {expected:?}");
}

#[test]
fn files_without_a_model_name_are_named_after_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ball.xml");
    write(&path, "<mujoco><worldbody/></mujoco>").unwrap();
    let r = super::load_file_as_mujoco(&path);
    r.says("is named 'ball'");
    assert!(
        r.ok()
            .plant
            .model_instance_names()
            .contains(&"ball".to_owned())
    );
    // A text has no file name.
    let unnamed = load("<mujoco/>");
    let names = unnamed.plant.model_instance_names();
    assert!(names.contains(&"MuJoCo Model".to_owned()), "{names:?}");
}

#[test]
fn frames_move_their_content_and_give_it_a_class() {
    let r = world_after(
        "<default><default class='k'><geom mass='3'/></default></default>",
        "<frame pos='1 0 0' euler='0 0 90' childclass='k'>\
           <body name='a' pos='0 1 0'><geom size='.1'/>\
             <frame pos='0 0 1'><body name='b' pos='1 0 0'><freejoint/><geom size='.1'/></body>\
             </frame></body>\
           <frame pos='0 0 2'><body name='c'><joint axis='1 0 0' pos='0 0 1'/>\
             <geom fromto='0 0 0 1 0 0' type='capsule' size='.1' mass='1'/></body></frame></frame>",
    );
    r.says_nothing();
    let r = r.ok();
    at(&r, "a", [0.0, 0.0, 0.0]);
    at(&r, "b", [0.0, 1.0, 1.0]);
    at(&r, "c", [1.0, 0.0, 2.0]);
    assert_eq!(
        (mass(&r, "a"), mass(&r, "b"), mass(&r, "c")),
        (3.0, 3.0, 1.0)
    );
    close(r.inertia("c").center_of_mass().x, 0.5);
}

#[test]
fn joints_in_frames_turn_with_them() {
    let r = world(
        "<body name='a'><frame euler='0 0 90' pos='0 2 0'><joint name='j' type='slide' \
                   axis='1 0 0'/></frame><geom size='.1'/></body>",
    );
    let r = r.ok();
    let q = [0.5];
    let kinematics = r.plant.calc_position_kinematics(&q).unwrap();
    let x = kinematics.x_wb(r.plant.body_by_name("a").unwrap());
    assert!((x.translation.vector - Vector3::new(0.0, 0.5, 0.0)).amax() < 1e-15);
}

#[test]
fn replicas_are_turned_and_moved_and_have_numbers() {
    let r = world(
        "<replicate count='3' offset='1 0 0' euler='0 0 90' sep='-'><body name='a' pos='0 1 0'>\
         <geom size='.1'/></body></replicate>",
    );
    let r = r.ok();
    assert_eq!(r.body_names()[1..], ["a-0", "a-1", "a-2"]);
    at(&r, "a-0", [0.0, 1.0, 0.0]);
    at(&r, "a-1", [0.0, 0.0, 0.0]);
    at(&r, "a-2", [1.0, 0.0, 0.0]);
    let ten = world("<replicate count='10'><body name='a'/></replicate>").ok();
    assert_eq!(ten.body_names()[10], "a09");
    let nested =
        world("<replicate count='2'><replicate count='2'><body name='a'/></replicate></replicate>");
    assert_eq!(nested.ok().body_names()[1..], ["a00", "a10", "a01", "a11"]);
}

#[test]
fn actuators_of_replicated_joints_are_replicated() {
    let r = load(
        "<mujoco model='m'><worldbody><replicate count='2'><body name='a'><joint name='j'/>\
         <geom size='.1'/></body></replicate></worldbody><actuator><motor name='m' joint='j'/>\
         <motor name='n' joint='j1'/></actuator></mujoco>",
    );
    let r = r.ok();
    let names: Vec<&str> = r.plant.actuators().iter().map(|a| a.name()).collect();
    assert_eq!(names, ["n", "m0", "m1"]);
}

/// Writes a child model and a parent with `world`; returns the parent as loaded.
fn attached(child: &str, world: &str) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path().join("child.xml"), child).unwrap();
    let path = folder.path().join("main.xml");
    let text = format!(
        "<mujoco model='m'><default><geom size='.9' density='1'/></default><asset>\
         <model name='c' file='child.xml'/></asset><worldbody>{world}</worldbody></mujoco>"
    );
    write(&path, text).unwrap();
    super::load_file_as_mujoco(&path)
}
const CHILD: &str = "<mujoco model='child'><compiler angle='radian'/><default>\
    <geom size='.2' mass='1'/><default class='c'><geom mass='2'/></default></default><worldbody>\
    <body name='b' pos='1 0 0' euler='0 0 1.5707963267948966'><joint name='j' range='-1 1'/>\
    <geom class='c'/><body name='d' pos='1 0 0'><geom/></body></body><body name='o'/></worldbody>\
    <actuator><motor name='a' joint='j'/></actuator><contact><exclude body1='b' body2='o'/>\
    </contact></mujoco>";

#[test]
fn attached_bodies_keep_their_classes_units_and_actuators() {
    let r = attached(
        CHILD,
        "<frame pos='0 0 1'><attach model='c' body='b' prefix='p_'/></frame>",
    );
    r.says_nothing();
    let r = r.ok();
    assert_eq!(r.body_names()[1..], ["p_b", "p_d"]);
    assert_eq!((mass(&r, "p_b"), mass(&r, "p_d")), (2.0, 1.0));
    at(&r, "p_d", [1.0, 1.0, 1.0]);
    assert_eq!(r.joint("p_j").position_upper_limits(), [1.0]);
    assert_eq!(r.plant.actuators()[0].name(), "p_a");
    let whole = attached(
        CHILD,
        "<attach model='c' prefix='q_'/><attach model='c' prefix='r_'/>",
    );
    let names = whole.ok();
    assert_eq!(
        names.body_names()[1..],
        ["q_b", "q_d", "q_o", "r_b", "r_d", "r_o"]
    );
}

#[test]
fn models_that_attach_themselves_are_errors() {
    let child = "<mujoco model='child'><asset><model name='x' file='child.xml'/></asset>\
                 <worldbody><attach model='x'/></worldbody></mujoco>";
    let e = attached(child, "<attach model='c'/>").error();
    assert!(e.contains("must not attach itself"), "{e}");
    let e = attached("<mujoco/>", "<attach model='x'/>").error();
    assert!(e.contains("there is no <model> asset 'x'"), "{e}");
    let e = attached(CHILD, "<attach model='c' body='x'/>").error();
    assert!(e.contains("has no body 'x'"), "{e}");
}

#[test]
fn expansion_is_bounded() {
    let bomb =
        "<replicate count='1000'>".repeat(5) + "<geom size='1'/>" + &"</replicate>".repeat(5);
    let e = world(&bomb).error();
    assert!(e.contains("at most 300000 copied elements"), "{e}");
    let e = world("<replicate count='1e9'><geom size='1'/></replicate>").error();
    assert!(e.contains("'count' of <replicate>"), "{e}");
    let deep = "<frame>".repeat(1000) + &"</frame>".repeat(1000);
    assert!(world(&deep).error().contains("at most 500 deep"));
    let e = world("<flexcomp name='f' count='1000 1000 1000'/>").error();
    assert!(e.contains("at most 20000 vertices"), "{e}");
    let field = "<asset><hfield name='h' nrow='100000' ncol='100000' size='1 1 1 1'/></asset>";
    let e = world_after(field, "").error();
    assert!(e.contains("at most 1048576 heights"), "{e}");
}

#[test]
fn the_compiler_changes_masses() {
    let body = "<body name='a'><freejoint/><geom size='.1' mass='1'/><geom size='.1' mass='2' \
                group='3'/></body>";
    let total = |compiler: &str| {
        let r = world_after(&format!("<compiler {compiler}/>"), body).ok();
        r.plant.calc_total_mass()
    };
    assert_eq!(total(""), 3.0);
    assert_eq!(total("inertiagrouprange='0 2'"), 1.0);
    close(total("settotalmass='14'"), 14.0);
    assert_eq!(total("settotalmass='-1' boundmass='5'"), 5.0);
    let inertial = "<body name='a'><freejoint/><inertial pos='0 0 0' mass='1' \
                    diaginertia='1 1 4'/></body>";
    assert!(world(inertial).result.is_err());
    let balanced = world_after("<compiler balanceinertia='true'/>", inertial).ok();
    let inertia = balanced.inertia("a").rotational_inertia();
    assert!((inertia - Matrix3::from_diagonal_element(2.0)).amax() < 1e-12);
    let bound = world_after("<compiler boundinertia='3'/>", inertial).ok();
    let moments = bound.inertia("a").rotational_inertia().diagonal();
    assert!((moments - Vector3::new(3.0, 3.0, 4.0)).amax() < 1e-12);
}

#[test]
fn a_given_inertia_holds_if_no_geom_has_a_mass() {
    let r = world_after(
        "<compiler inertiafromgeom='true' inertiagrouprange='3 3'/>",
        "<body name='a'><inertial pos='1 0 0' mass='3' diaginertia='1 1 1'/><geom size='.5'/>\
         </body>",
    );
    assert_eq!(mass(&r.ok(), "a"), 3.0);
    let massless =
        world("<body name='a'><inertial pos='0 0 0' mass='0' diaginertia='0 0 0'/></body>");
    assert_eq!(mass(&massless.ok(), "a"), 0.0);
}

/// A prism over an L, which is not convex.
const L: &str = "vertex='0 0 0 2 0 0 2 1 0 1 1 0 1 3 0 0 3 0 0 0 1 2 0 1 2 1 1 1 1 1 1 3 1 0 3 1' \
    face='0 2 1 0 3 2 0 4 3 0 5 4 6 7 8 6 8 9 6 9 10 6 10 11 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 2 9 8 \
    3 4 10 3 10 9 4 5 11 4 11 10 5 0 6 5 6 11'";

#[test]
fn the_mass_of_a_mesh_is_distributed_in_four_ways() {
    for (kind, size, center) in [
        ("exact", 4.0, [0.75, 1.25, 0.5]),
        ("legacy", 4.161340544083907, [0.77519666, 1.24201082, 0.5]),
        ("convex", 5.0, [0.86666667, 1.33333333, 0.5]),
        ("shell", 18.0, [0.77777778, 1.27777778, 0.5]),
    ] {
        let r = world_after(
            &format!("<asset><mesh name='l' inertia='{kind}' {L}/></asset>"),
            "<body name='a'><freejoint/><geom type='mesh' mesh='l' density='1'/></body>",
        );
        let r = r.ok();
        // The recorded numbers have eight digits, the vertices single precision.
        assert!(
            (mass(&r, "a") - size).abs() < 1e-6,
            "{kind}: {}",
            mass(&r, "a")
        );
        let error = r.inertia("a").center_of_mass() - Vector3::from(center);
        assert!(error.amax() < 1e-7, "{kind}: {error}");
    }
}

#[test]
fn meshes_are_moved_turned_and_scaled() {
    let vertices = |attributes: &str| {
        let r = world_after(
            &format!("<asset><mesh name='l' {attributes} {L}/></asset>"),
            "<geom type='mesh' mesh='l'/>",
        );
        let r = r.ok();
        let geometry = r.plant.collision_geometries(BodyIndex::WORLD)[0];
        let inspector = r.scene.model_inspector();
        let Shape::Mesh(mesh) = inspector.shape(geometry).unwrap() else {
            panic!("it is no mesh");
        };
        let x = inspector.pose_in_frame(geometry).unwrap();
        x * nalgebra::Point3::from(mesh.surface().unwrap().vertices()[0])
    };
    let near = |attributes: &str, expected: [f64; 3]| {
        let found = vertices(attributes);
        let error = (found.coords - Vector3::from(expected)).amax();
        assert!(error < 1e-12, "{attributes}: {found}, not {expected:?}");
    };
    near("refpos='1 2 3' scale='2 3 4'", [-2.0, -6.0, -12.0]);
    near(
        "refpos='1 2 3' refquat='1 1 0 0' scale='2 2 2'",
        [-2.0, -6.0, 4.0],
    );
    near(
        "refpos='1 2 3' refquat='1 1 0 0' scale='2 2 3'",
        [-2.0, -6.0, 6.0],
    );
}

#[test]
fn classes_inherit_the_defaults_of_other_elements() {
    let r = world_after(
        "<default><geom mass='3'/><default class='k'><joint damping='7'/></default></default>",
        "<body name='a' childclass='k'><joint name='j'/><geom size='.1'/></body>",
    );
    let r = r.ok();
    assert_eq!((mass(&r, "a"), r.joint("j").damping()[0]), (3.0, 7.0));
}

#[test]
fn the_pose_of_a_body_is_before_all_of_its_joints() {
    let r = world(
        "<body name='a' pos='1 0 0'><joint name='x' axis='0 0 1'/><joint name='y' type='slide' \
         axis='1 0 0'/><geom size='.1'/></body>",
    );
    let r = r.ok();
    let q = [std::f64::consts::FRAC_PI_2, 2.0];
    let kinematics = r.plant.calc_position_kinematics(&q).unwrap();
    let x = kinematics.x_wb(r.plant.body_by_name("a").unwrap());
    assert!((x.translation.vector - Vector3::new(1.0, 2.0, 0.0)).amax() < 1e-15);
}

#[test]
fn height_fields_are_closed_surfaces() {
    let r = world_after(
        "<asset><hfield name='h' nrow='2' ncol='3' size='3 2 1 .5' elevation='0 1 2 3 4 5'/>\
         </asset>",
        "<geom type='hfield' hfield='h'/>",
    );
    let r = r.ok();
    let geometry = r.plant.collision_geometries(BodyIndex::WORLD)[0];
    let Shape::HeightField(field) = r.scene.model_inspector().shape(geometry).unwrap() else {
        panic!("it is no height field");
    };
    let surface = field.surface().unwrap();
    // The first row is at the largest y; heights are scaled to [0, 1].
    let top = |i: usize| surface.vertices()[i];
    assert!((top(0) - Vector3::new(-3.0, -2.0, 0.6)).amax() < 1e-15);
    assert!((top(5) - Vector3::new(3.0, 2.0, 0.4)).amax() < 1e-15);
    // The base, and prisms of the mean height 0.5.
    close(surface.calc_enclosed_volume(), 24.0 * (0.5 + 0.5));
}

#[test]
fn shapes_between_two_points_have_square_sections() {
    let r = world("<body name='a'><geom type='box' size='.1 .2 .7' fromto='0 0 0 0 0 1'/></body>");
    close(mass(&r.ok(), "a"), 1000.0 * 0.2 * 0.2);
    let shell = world(
        "<body name='a'><geom type='box' size='.1 .2 .3' density='1' shellinertia='true'/></body>",
    );
    close(mass(&shell.ok(), "a"), 0.88);
}

#[test]
fn limits_of_motors_scale_with_the_gear() {
    let r = load(
        "<mujoco model='m'><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody>\
         <actuator><motor joint='j' gear='20' ctrlrange='-1 1'/>\
         <position joint='j' gear='2' kp='3' kv='1' ctrlrange='-1 1' forcerange='-5 5'/>\
         </actuator></mujoco>",
    );
    let r = r.ok();
    let actuators = r.plant.actuators();
    assert_eq!(actuators[0].effort_limit(), 20.0);
    assert_eq!(actuators[1].effort_limit(), 10.0);
    let control = actuators[1].affine_control().unwrap();
    assert_eq!(control.bias, [0.0, -3.0, -1.0]);
    // The control is a length, 2 q.
    assert_eq!(control.control_at(0.25), Some(0.5));
}

#[test]
fn sites_are_connected() {
    let r = load(
        "<mujoco model='m'><worldbody><body name='a'><freejoint/><geom size='.1'/>\
         <site name='s' pos='1 0 0'/></body><site name='t' pos='0 2 0'/></worldbody><equality>\
         <connect site1='s' site2='t'/></equality></mujoco>",
    );
    assert_eq!(r.ok().plant.constraints().len(), 1);
}

#[test]
fn flexcomps_become_bodies_that_slide() {
    let flex = |attributes: &str| {
        world(&format!(
            "<body name='p' pos='1 2 3'><flexcomp name='f' spacing='.1 .2 .3' mass='6' \
             {attributes}</flexcomp></body>"
        ))
    };
    let r = flex("type='grid' count='2 3 1'><pin id='0 2'/>");
    r.says("its elasticity, its edges and its contacts do not act");
    let r = r.ok();
    assert_eq!(r.plant.num_velocities(), 12);
    assert_eq!(mass(&r, "f_1"), 1.0);
    at(&r, "f_1", [0.95, 2.0, 3.0]);
    let radial = flex("type='ellipsoid' count='3 3 3' dim='3' dof='radial'>").ok();
    assert_eq!(radial.plant.num_velocities(), 26);
    let corners = flex("type='grid' count='3 3 4' dim='3' dof='trilinear'>").ok();
    assert_eq!(corners.plant.num_velocities(), 24);
    close(mass(&corners, "f_1_1_1"), 0.75);
    let open = flex("type='box' count='4 4 4' dim='2'>").ok();
    assert_eq!(open.plant.num_velocities(), 3 * 52);
}

#[test]
fn cables_become_chains() {
    let cable = |attributes: &str| {
        world(&format!(
            "<frame pos='0 0 1'><composite type='cable' prefix='p' {attributes}>\
             <joint kind='main' damping='.5'/><geom type='capsule' size='.01' mass='2'/>\
             </composite></frame>"
        ))
    };
    let r = cable("curve='s cos(s) sin(s)' size='1 .2 3' count='5 1 1' initial='none'");
    r.says("its elasticity does not act");
    let r = r.ok();
    assert_eq!(r.body_names()[1..], ["pB_first", "pB_1", "pB_2", "pB_last"]);
    assert_eq!(r.plant.num_velocities(), 9);
    let h = 0.2 * std::f64::consts::FRAC_1_SQRT_2;
    // The vertices have single precision.
    for (body, expected) in [
        ("pB_first", [0.0, 0.2, 1.0]),
        ("pB_1", [0.25, -h, 1.0 + h]),
        ("pB_last", [0.75, h, 1.0 + h]),
    ] {
        let error = position(&r, body) - Vector3::from(expected);
        assert!(error.amax() < 1e-7, "{body}: {error}");
    }
    assert_eq!(r.joint("pJ_1").damping()[0], 0.5);
    assert_eq!(r.plant.calc_total_mass(), 8.0);
    assert_eq!(
        cable("curve='s' size='1' count='4 1 1'")
            .ok()
            .plant
            .num_velocities(),
        9
    );
    let free = cable("vertex='0 0 0 1 0 0 2 0 1 3 0 1' initial='free'").ok();
    assert_eq!(free.plant.num_velocities(), 12);
    let e = cable("curve='s' size='1' count='1e9 1 1'").error();
    assert!(e.contains("'count' of a cable"), "{e}");
    let e = cable("vertex='0 0 0 0 0 0 1 0 0'").error();
    assert!(e.contains("must differ"), "{e}");
}

#[test]
fn what_is_left_out_is_named() {
    world("<composite type='cloth'/>").says("only composites of type 'cable' are supported");
    let r = world_after("<asset><mesh name='c' builtin='cone'/></asset>", "");
    r.says("builtin 'cone' is not supported");
    let path = Path::new("nothing.png");
    let text = format!(
        "<asset><texture name='t' type='2d' file='{}'/></asset>",
        path.display()
    );
    world_after(&text, "").says("the texture is left out");
}
