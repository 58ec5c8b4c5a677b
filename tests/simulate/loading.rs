//! Contents of loaded models: floors, meshes and time steps.

use super::{log_of, said, simulate};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn file(name: &str, text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

/// Returns the height at which a ball ends that is thrown off a floor of 1 m around the origin.
fn height_of_thrown_ball(name: &str, text: &str) -> f64 {
    let (_folder, file) = file(name, text);
    let log = log_of(&file, &["--until", "1", "--set", "ball_vx.v=5"]);
    let column = |name: &&String| name.ends_with("::ball_z.q");
    let column = log.header.iter().find(column);
    log.last(column.unwrap_or_else(|| panic!("{:?}", log.header)))
}

fn mjcf_with(asset: &str, floor: &str) -> String {
    format!(
        "<mujoco model='m'><asset>{asset}</asset><worldbody>{floor}<body name='ball' pos='.4 0 .2'>
         <freejoint/><geom size='.05'/></body></worldbody></mujoco>"
    )
}

const SLAB: &str = "<geom type='box' size='.5 .5 .05' pos='0 0 -.05'/>";

#[test]
fn model_over_its_own_floor_gets_no_ground() {
    let field =
        "<hfield name='f' nrow='3' ncol='3' size='.5 .5 .1 .1' elevation='1 0 0 0 0 0 0 0 1'/>";
    let mesh = "<mesh name='f' vertex='-.5 -.5 0 .5 -.5 0 .5 .5 0 -.5 .5 0 0 0 -.3'/>";
    for (asset, floor) in [
        ("", SLAB),
        ("", &*format!("<body pos='0 0 .01'>{SLAB}</body>")),
        (field, "<geom type='hfield' hfield='f'/>"),
        (mesh, "<geom type='mesh' mesh='f'/>"),
    ] {
        let z = height_of_thrown_ball("m.xml", &mjcf_with(asset, floor));
        assert!(z < -2.0, "{floor}: {z}");
    }
    let world = "<sdf version='1.9'><world name='w'><model name='floor'><static>true</static>
        <link name='l'><collision name='c'><pose>0 0 -.05 0 0 0</pose><geometry><box>
        <size>1 1 .1</size></box></geometry></collision></link></model>
        <model name='m'><pose>.4 0 .2 0 0 0</pose><link name='ball'><collision name='c'><geometry>
        <sphere><radius>.05</radius></sphere></geometry></collision></link></model></world></sdf>";
    let z = height_of_thrown_ball("m.sdf", world);
    assert!(z < -2.0, "{z}");
}

#[test]
fn walls_roofs_and_distant_tables_are_no_floors() {
    for fixed in [
        // A box elsewhere, a box above, a wall, and a box that moves.
        "<geom type='box' size='.5 .5 .05' pos='3 0 -.05'/>",
        "<geom type='box' size='.5 .5 .05' pos='0 0 2'/>",
        "<geom type='plane' size='1 1 1' pos='-2 0 0' euler='0 90 0'/><geom size='.1' pos='0 2 0'/>",
        "<body><joint type='hinge' axis='0 0 1'/><geom type='box' size='.5 .5 .05' pos='0 0 -.05'/></body>",
    ] {
        let z = height_of_thrown_ball("m.xml", &mjcf_with("", fixed));
        assert!(z > -1.0, "{fixed}: {z}");
    }
    // One of two bodies falls beside the floor.
    let both = mjcf_with("", SLAB).replace(
        "</worldbody>",
        "<body pos='2 0 .2'><freejoint/><geom size='.05'/></body></worldbody>",
    );
    let z = height_of_thrown_ball("m.xml", &both);
    assert!(z > -1.0, "{z}");
}

/// Models whose mesh file is missing, with a ball of 1 kg.
fn with_missing_meshes() -> [(&'static str, &'static str); 3] {
    let urdf = "<robot name='m'><link name='ball'><inertial><mass value='1'/>
        <inertia ixx='.01' iyy='.01' izz='.01' ixy='0' ixz='0' iyz='0'/></inertial>
        <visual><geometry><mesh filename='package://nowhere/a.obj'/></geometry></visual>
        <collision><geometry><mesh filename='b.stl'/></geometry></collision>
        <collision><geometry><sphere radius='.05'/></geometry></collision></link></robot>";
    let sdf = "<sdf version='1.9'><model name='m'><link name='ball'>
        <visual name='v'><geometry><mesh><uri>a.obj</uri></mesh></geometry></visual>
        <collision name='b'><geometry><mesh><uri>model://nowhere/b.obj</uri></mesh></geometry></collision>
        <collision name='c'><geometry><sphere><radius>.05</radius></sphere></geometry></collision>
        </link></model></sdf>";
    let mjcf = "<mujoco model='m'><asset><mesh name='a' file='a.obj'/><mesh name='b' file='b.msh'/>
        <mesh name='c' file='c.obj' scale='1 2 3' refquat='1 1 0 0'/></asset>
        <worldbody><body name='ball'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='.01 .01 .01'/>
        <geom type='mesh' mesh='a'/><geom type='mesh' mesh='b' contype='0' conaffinity='0'/>
        <geom size='.05'/></body></worldbody></mujoco>";
    [("m.urdf", urdf), ("m.sdf", sdf), ("m.xml", mjcf)]
}

#[test]
fn models_without_meshes_need_no_mesh_files() {
    for (name, text) in with_missing_meshes() {
        let (_folder, file) = file(name, text);
        let output = simulate(&file, &["--until", "0.1"]).output().unwrap();
        assert!(!output.status.success(), "{name}");
        assert!(
            said(&output).contains("does not exist"),
            "{}",
            said(&output)
        );
        // The sphere rests on the ground.
        let log = log_of(&file, &["--until", "1.5", "--no-meshes", "--strict"]);
        assert!((log.last("m::ball_z.q") - 0.05).abs() < 1e-3, "{name}");
        assert_eq!(log.last("contacts"), 1.0, "{name}");
    }
}

#[test]
fn meshes_of_scenarios_can_be_left_out() {
    let (folder, _file) = file("m.urdf", with_missing_meshes()[0].1);
    let scenario = folder.path().join("scene.yaml");
    let text = "directives:\n- add_model: {name: m, file: m.urdf}\n";
    std::fs::write(&scenario, text).unwrap();
    assert_eq!(
        log_of(&scenario, &["--until", "0.1", "--no-meshes"]).last("contacts"),
        0.0
    );
}

#[test]
fn missing_mesh_that_gives_the_mass_is_an_error_also_without_meshes() {
    let text =
        "<mujoco><asset><mesh name='a' file='gone.obj'/></asset><worldbody><body><freejoint/>
        <geom type='mesh' mesh='a'/></body></worldbody></mujoco>";
    let (_folder, file) = file("m.xml", text);
    let output = simulate(&file, &["--until", "0.1", "--no-meshes"]).output();
    let output = output.unwrap();
    assert!(!output.status.success());
    assert!(said(&output).contains("gone.obj"), "{}", said(&output));
}

fn steps(file: &Path, options: &[&str]) -> (u64, String) {
    let output = simulate(file, &["--until", "1", "--stats", "json"])
        .args(options)
        .output();
    let output = output.unwrap();
    let stats: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    (stats["steps"].as_u64().unwrap(), said(&output))
}

/// SDFormat 1.12: the first profile that is marked as default, else the first one.
#[test]
fn step_of_a_world_is_that_of_its_default_physics() {
    let world = |physics: &str| {
        file(
            "m.sdf",
            &format!(
                "<sdf version='1.9'><world name='w'>{physics}<model name='m'><link name='ball'/>
                 </model></world></sdf>"
            ),
        )
    };
    let physics = |attributes: &str, step: &str| {
        format!(
            "<physics {attributes} type='ode'><max_step_size>{step}</max_step_size>
             <real_time_factor>1</real_time_factor>
             <real_time_update_rate>0</real_time_update_rate></physics>"
        )
    };
    let (_folder, file) = world(&physics("name='a'", "0.01"));
    assert_eq!(steps(&file, &[]).0, 100);
    assert_eq!(steps(&file, &["--time-step", "model"]).0, 100);
    assert_eq!(steps(&file, &["--time-step", "0.005"]).0, 200);
    let two = physics("name='a'", "0.01") + &physics("name='b' default='true'", "0.02");
    let (_folder, file) = world(&two);
    assert_eq!(steps(&file, &[]).0, 50);
    let (_folder, file) = world(&physics("name='a'", "0"));
    let (number, said) = steps(&file, &[]);
    assert_eq!(number, 1000);
    assert!(
        said.contains("<max_step_size> must be positive and finite, got 0.0 s"),
        "{said}"
    );
    let (_folder, file) = world("");
    assert_eq!(steps(&file, &[]).0, 1000);
}
