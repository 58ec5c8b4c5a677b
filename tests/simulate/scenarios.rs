//! Experiments in YAML.

use super::{Log, log_of, model, said, simulate};
use tarragon::sensors::{ImageIo, Rgba8U};

#[test]
fn a_scenario_is_a_whole_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let mut command = simulate(&model("scenes/drop.yaml"), &["--until", "0.8"]);
    command.arg("--images").arg(folder.path().join("images"));
    let output = command.arg("--log").arg(&log).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let log = Log::read(&log);
    assert_eq!(log.column("arm::joint2.q")[0], 0.6, "initial_position");
    // The controllers hold the arm: its weight bends it by a fraction of what it would fall.
    assert!((log.last("arm::joint2.q") - 0.6).abs() < 0.1);
    // Things fall on the table, whose top is at z = 0.
    assert_eq!(log.column("ball::ball_z.q")[0], 0.3);
    assert!(log.last("ball::ball_z.q").abs() < 1e-3);
    // A camera at 2 Hz took pictures at 0 and 0.5 s.
    let mut pictures: Vec<String> = std::fs::read_dir(folder.path().join("images/overview"))
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    pictures.sort();
    assert_eq!(
        pictures,
        [
            "color_0000.png",
            "color_0001.png",
            "depth_0000.tiff",
            "depth_0001.tiff"
        ]
    );
}

/// Cameras see the skybox of a model behind it.
/// Things of the scene stand on the table as its directives say, so nothing has to move.
#[test]
fn things_rest_on_the_table_of_the_example_scene() {
    let folder = model("");
    let packages = ["--until", "0.3", "--package", folder.to_str().unwrap()];
    let log = log_of(&model("scenes/table_top.yaml"), &packages);
    for thing in ["mug", "box", "can", "bottle", "ball", "block"] {
        for part in ["qw", "qx", "qy", "qz", "x", "y", "z"] {
            let name = format!("{thing}::{thing}_{part}.q");
            let moved = (log.last(&name) - log.column(&name)[0]).abs();
            // They sink by m g / k, which is less than 20 micrometers at 1e6 N/m.
            assert!(moved < 2e-5, "{name} moved by {moved}");
        }
    }
    assert!(*log.column("contacts").last().unwrap() >= 6.0);
}

#[test]
fn skyboxes_are_behind_what_cameras_see() {
    let folder = tempfile::tempdir().unwrap();
    let sky = "<mujoco model='dusk'><asset><texture name='sky' type='skybox' builtin='flat'
                 width='4' rgb1='0 .2 0' rgb2='1 0 0'/></asset>
               <worldbody><geom size='.1' rgba='0 0 1 1'/></worldbody></mujoco>";
    std::fs::write(folder.path().join("dusk.xml"), sky).unwrap();
    let scenario = "directives:
- add_model: {name: dusk, file: dusk.xml}
cameras:
  front:
    name: front
    fps: 1
    X_PB: {translation: [1, 0, 0], rotation: !Rpy {deg: [-90, 0, 90]}}
";
    let file = folder.path().join("scenario.yaml");
    std::fs::write(&file, scenario).unwrap();
    let mut command = simulate(&file, &["--until", "0.1"]);
    let images = folder.path().join("images");
    let output = command.arg("--images").arg(&images).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let image = ImageIo::new().load_as::<Rgba8U>(images.join("front/color_0000.png"));
    let image = image.unwrap();
    assert_eq!(image.at(0, 0), [0, 51, 0, 255]);
    let middle = image.at(image.width() / 2, image.height() / 2);
    assert!(middle[2] > 40 && middle[..2] == [0, 0], "{middle:?}");
}

/// Two balls of different materials, which are deformable links, fall on the ground.
#[test]
fn deformable_bodies_fall_and_rest() {
    let folder = tempfile::tempdir().unwrap();
    let link = |name: &str, z: f64, model: &str| {
        format!(
            "<link name='{name}'><pose>0 0 {z} 0 0 0</pose><collision name='c'><geometry><sphere>
             <radius>0.1</radius></sphere></geometry><drake:proximity_properties>
             <drake:mesh_resolution_hint>0.1</drake:mesh_resolution_hint>
             </drake:proximity_properties></collision><drake:deformable_properties>
             <drake:youngs_modulus>1e5</drake:youngs_modulus><drake:mass_density>1000
             </drake:mass_density><drake:poissons_ratio>0.3</drake:poissons_ratio>
             <drake:stiffness_damping>0.02</drake:stiffness_damping>
             <drake:material_model>{model}</drake:material_model></drake:deformable_properties>
             </link>"
        )
    };
    let text = format!(
        "<sdf version='1.9' xmlns:drake='http://drake.mit.edu'><world name='w'><model name='m'>{}
         </model><model name='n'><pose>0.5 0 0 0 0 0</pose>{}</model></world></sdf>",
        link("low", 0.0, "linear_corotated"),
        link("high", 0.3, "neohookean"),
    );
    let file = folder.path().join("soft.sdf");
    std::fs::write(&file, text).unwrap();
    let log = log_of(&file, &["--until", "0.6", "--time-step", "0.005"]);
    let (low, high) = (log.column("m::low.z"), log.column("n::high.z"));
    // The lower ball starts 0.1 m above the ground.
    assert!((low[0] - 0.2).abs() < 1e-9 && (high[0] - 0.5).abs() < 1e-9);
    for z in [&low, &high] {
        let last = z[z.len() - 1];
        assert!((0.08..0.1).contains(&last), "{last}");
    }
    assert!((log.last("n::high.x") - 0.5).abs() < 0.01);
    let output = simulate(&file, &["--until", "0.1", "--time-step", "0"]).output();
    let output = output.unwrap();
    assert!(!output.status.success());
    let expected =
        ":1:87: error: deformable body 'low': the time step of the plant must be positive";
    assert!(said(&output).contains(expected), "{}", said(&output));
}

#[test]
fn scenarios_of_one_file_are_chosen_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.yaml");
    std::fs::write(
        &file,
        "short: {simulation_duration: 0.1}\nlong: {simulation_duration: 0.2}\n",
    )
    .unwrap();
    let output = simulate(&file, &["--scenario-name", "long"])
        .output()
        .unwrap();
    assert!(
        said(&output).starts_with("simulated 0.200 s"),
        "{}",
        said(&output)
    );
    let output = simulate(&file, &["--scenario-name", "wide"])
        .output()
        .unwrap();
    let expected =
        "--scenario-name must be the name of a scenario in the file, 'long' or 'short', got 'wide'";
    assert!(said(&output).contains(expected), "{}", said(&output));
}

#[test]
fn mistakes_in_scenarios_are_errors_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.yaml");
    for (text, expected) in [
        ("random_sed: 1", ":1:1: unknown field `random_sed`"),
        (
            "plant_config:\n  time_stop: 1",
            ":2:3: unknown field `time_stop`",
        ),
        ("simulator_config:\n  step: 1", ":2:3: unknown field `step`"),
        (
            "cameras:\n  top:\n    hight: 4",
            ":3:5: unknown field `hight`",
        ),
        (
            "visualization: {period: 4}",
            ":1:17: unknown field `period`",
        ),
        (
            "lcm_buses: {default: {url: ''}}",
            ":1:23: unknown field `url`",
        ),
        (
            "directives:\n- add_robot: {}",
            ":2:3: unknown variant `add_robot`",
        ),
        (
            "directives:\n- add_model_instance: {name: a}\n- add_model: {name: a, file: no.urdf}",
            ":3:3: add_model: ",
        ),
        (
            "scene_graph_config: {default_proximity_properties: {stiffness: 1}}",
            ":1:53: unknown field `stiffness`",
        ),
        (
            "scene_graph_config: {default_proximity_properties: {point_stiffness: -1}}",
            "point_contact_stiffness must be positive, got -1.0",
        ),
        (
            "model_drivers:\n  iiwa: !ZeroForceDriver {gain: 3}",
            "ZeroForceDriver has no key 'gain'",
        ),
        (
            "directives:\n- add_model_instance: {name: a}\nmodel_drivers:\n  a: !IiwaDriver {}",
            ":4:18: model_drivers: a: IiwaDriver is not supported; use !JointStiffnessDriver",
        ),
        (
            "directives:\n- add_model_instance: {name: a}\nmodel_drivers:\n  \
             a: !JointStiffnessDriver {gains: {motor: {p: 1, d: 1}}}",
            "gains: 'motor' must be an actuator of the model, one of []",
        ),
        (
            "initial_position: {arm: {elbow: [1]}}",
            ":1:33: initial_position: arm: elbow: there is no model instance named 'arm'",
        ),
        (
            "cameras:\n  top: {fps: -1}",
            "cameras: top: camera 'preview_camera': fps must be positive",
        ),
        (
            "simulation_duration: -1",
            ":1:22: simulation_duration must be at least 0 s, got -1.0 s",
        ),
        (
            "simulator_config: {integration_scheme: euler}",
            ":1:40: simulator_config: Simulator: there is no integration scheme 'euler'",
        ),
        ("plant_config:\n  time_step: -0.1", ":2:14: plant_config: "),
        (
            "simulator_config:\n  accuracy: 1e-3\n  max_step_size: -1",
            ":3:18: simulator_config: ",
        ),
        (
            "cameras:\n  a: {name: eye}\n  b: {name: eye}",
            ":3:6: cameras: b: the name must differ from all other cameras', got 'eye', which \
             camera 'a' has too",
        ),
        (
            "simulator_config: {target_realtime_rate: -1}",
            "target_realtime_rate must be positive, or 0 for as fast as possible, got -1.0",
        ),
        (
            "plant_config: {contact_model: soft}",
            ":1:31: plant_config: contact_model must be 'point'",
        ),
        (
            "visualization: {publish_period: 0}",
            ":1:33: visualization: ",
        ),
        (
            "lcm_buses: {default: {lcm_url: 'a://'}}",
            ":1:32: lcm_buses: default: LCM URL 'a://'",
        ),
        ("- 1", ":1:1: "),
    ] {
        std::fs::write(&file, text).unwrap();
        let output = simulate(&file, &["--until", "0.1"]).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{text}: {said}");
        let place = format!("error: {}", file.display());
        let known = said.starts_with(&place) && said.contains(expected);
        assert!(known, "{text}: {said}");
    }
}

/// The right answers come from YAML 1.2, which Drake's reader follows. `random_seed: 1e3` was an
/// "invalid u64", and `name: null` gave advice about Rust.
#[test]
fn mistakes_in_yaml_are_explained_with_their_cure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.yaml");
    for (text, expected) in [
        (
            "random_seed: 1e3",
            ":1:14: random_seed: must be a whole number of at least 0, got 1e3; write 1000",
        ),
        (
            "random_seed: 1_000",
            ":1:14: random_seed: must be a whole number of at least 0, got 1_000; write 1000, because",
        ),
        (
            "simulation_duration: 1_000",
            ":1:22: simulation_duration: must be a number, got 1_000; write 1000, because",
        ),
        (
            "cameras:\n  top:\n    clipping_far: inf",
            ":3:19: cameras.top.clipping_far: must be a number, got inf; YAML writes infinity as .inf",
        ),
        (
            "cameras: {top: {name: null}}",
            ":1:23: cameras.top.name: must be text, got null; write a text",
        ),
        (
            "random_seed: 1\nrandom_seed: 2",
            ":2:1: random_seed: the key must be given once, got it again after line 1; remove one",
        ),
        (
            "random_seed: 1\n---\nrandom_seed: 2",
            "must be one YAML document, got a second one",
        ),
        (
            "lcm_buses: {default: {lcm_url: null}}",
            ":1:32: lcm_buses.default.lcm_url: must be text, got null; write a text",
        ),
        (
            "model_drivers:\n  a: !JointStiffnessDriver {gains: {motor: {p: inf, d: 1}}}",
            "must be a number, got inf; YAML writes infinity as .inf",
        ),
        (
            "initial_position: {arm: {elbow: [1_0]}}",
            "initial_position.arm.elbow[0]: must be a number, got 1_0; write 10",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let output = simulate(&file, &["--until", "0.1"]).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{text}: {said}");
        assert!(said.contains(expected), "{text}\n{said}");
        assert!(!said.contains("Option"), "{said}");
    }
}

/// Free fall from 2 m and from 4 m: `z - g t^2 / 2` at 0.5 s. The box rests on the plane.
#[test]
fn worlds_of_sdformat_are_added_with_all_their_models() {
    let folder = tempfile::tempdir().unwrap();
    let ball = "<link name='l'><inertial><mass>1</mass><inertia><ixx>.01</ixx><iyy>.01</iyy>
                <izz>.01</izz></inertia></inertial></link>";
    let shape =
        |shape: &str| format!("<collision name='c'><geometry>{shape}</geometry></collision>");
    let plane = shape("<plane><normal>0 0 1</normal></plane>");
    let block = shape("<box><size>.2 .2 .2</size></box>");
    let inner = format!("<sdf version='1.9'><model name='falling'>{ball}</model></sdf>");
    std::fs::write(folder.path().join("ball.sdf"), inner).unwrap();
    let world = format!(
        "<sdf version='1.9'><world name='w'>
           <physics type='ode'><max_step_size>0.002</max_step_size></physics>
           <model name='floor'><static>true</static><link name='l'>{plane}</link></model>
           <model name='block'><pose>1 0 .1 0 0 0</pose>
             <link name='l'><inertial><mass>1</mass></inertial>{block}</link></model>
           <include><uri>ball.sdf</uri><name>low</name><pose>0 0 2 0 0 0</pose></include>
           <include><uri>ball.sdf</uri><name>high</name></include></world></sdf>"
    );
    std::fs::write(folder.path().join("world.sdf"), world).unwrap();
    let file = folder.path().join("scenario.yaml");
    let scenario = "directives:
- add_model:
    name: lab
    file: world.sdf
    default_free_body_pose: {high::l: {translation: [0, 0, 4]}}
";
    std::fs::write(&file, scenario).unwrap();
    let path = folder.path().join("log.csv");
    let mut command = simulate(&file, &["--until", "0.5"]);
    let output = command.arg("--log").arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let expected = "time_step is 0.001 s, but a world has max_step_size 0.002 s";
    assert!(said(&output).contains(expected), "{}", said(&output));
    let log = Log::read(&path);
    let fallen = 9.81 / 8.0;
    for (name, z) in [
        ("high", 4.0 - fallen),
        ("low", 2.0 - fallen),
        ("block", 0.1),
    ] {
        let found = log.last(&format!("lab::{name}::l_z.q"));
        assert!((found - z).abs() < 5e-3, "{name}: {found}");
    }
    // A file in the current directory has no directory in its name.
    let arguments = ["--until", "0.1", "--time-step", "0.002"];
    let mut command = simulate(std::path::Path::new("scenario.yaml"), &arguments);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        !said(&output).contains("max_step_size"),
        "{}",
        said(&output)
    );
}

/// Files beside a scenario are found by its bare name, too.
#[test]
fn scenarios_are_read_by_bare_file_names() {
    let folder = tempfile::tempdir().unwrap();
    let urdf = "<robot name='r'><link name='l'/></robot>";
    std::fs::write(folder.path().join("r.urdf"), urdf).unwrap();
    let scenario = "directives:\n- add_model: {name: r, file: r.urdf}\n- add_weld: {parent: world, child: r::l}\n";
    std::fs::write(folder.path().join("s.yaml"), scenario).unwrap();
    let mut command = simulate("s.yaml".as_ref(), &["--until", "0.01"]);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn scenarios_by_name_ask_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.yaml");
    std::fs::write(&file, "One: {random_seed: 1}\nTwo: {}\n").unwrap();
    let output = simulate(&file, &["--until", "0.01"]).output().unwrap();
    let text = said(&output);
    let expected = "choose one with --scenario-name: 'One' or 'Two'";
    assert!(
        !output.status.success() && text.contains(expected),
        "{text}"
    );
}
