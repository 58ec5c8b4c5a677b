//! Elements of vendors, old files and worlds, as public repositories have them.

use super::*;
use std::fs;

fn collision(ode: &str) -> Loaded {
    load(&model(&format!(
        "<link name='a'><collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry>
         <surface><friction><ode>{ode}</ode></friction></surface></collision></link>"
    )))
}

/// In SDFormat, `mu` and `mu2` belong to two directions of sliding; Drake reads them as static and
/// dynamic friction, and refuses a larger `mu2`.
#[test]
fn friction_of_a_second_direction_is_at_most_that_of_the_first() {
    for (ode, [fixed, moving], warned) in [
        ("<mu>0.5</mu><mu2>0.8</mu2>", [0.5, 0.5], true),
        ("<mu>0.5</mu>", [0.5, 0.5], true),
        ("<mu2>1.5</mu2>", [1.0, 1.0], true),
        ("<mu>0.0</mu><mu2>50</mu2>", [0.0, 0.0], true),
        ("<mu>100</mu><mu2>50</mu2>", [100.0, 50.0], false),
        ("<mu>1.5</mu>", [1.5, 1.0], false),
    ] {
        let loaded = collision(ode);
        let inspector = loaded.scene.model_inspector();
        let id = inspector.geometry_ids().next().unwrap();
        let properties = inspector.proximity_properties(id).unwrap().unwrap();
        let mu: &CoulombFriction = properties.get("material", "coulomb_friction").unwrap();
        let found = [mu.static_friction(), mu.dynamic_friction()];
        assert_eq!(found, [fixed, moving], "{ode}");
        assert_eq!(loaded.said.len(), usize::from(warned), "{:?}", loaded.said);
        if warned {
            let acts = format!("{fixed:?} is used for static and dynamic friction");
            let said = &loaded.said[0];
            assert!(
                said.contains("warning: <mu2> must be at most <mu>"),
                "{said}"
            );
            assert!(said.contains(&acts), "{said}");
        }
    }
    let negative = "<link name='a'><collision name='c'><geometry><sphere><radius>1</radius></sphere>
        </geometry><surface><friction><ode><mu>-1</mu></ode></friction></surface></collision></link>";
    assert!(try_load(&model(negative)).is_err());
}

#[test]
fn elements_of_vendors_are_warnings() {
    for foreign in [
        "<gz::system_priority>1</gz::system_priority>",
        "<gz:system_priority gz:a='1'>1</gz:system_priority>",
        "<ignition::a::b c::d='1'/>",
        "<:a b:='1'/>",
        "<vendor.element><other/></vendor.element>",
        "<link name='b' vendor.attribute='1' gz::other='2'/>",
        "<link name='b'><sensor name='s' type='imu'><gz_frame_id>a</gz_frame_id></sensor></link>",
        "<link name='b'><sensor name='s' type='gpu_lidar'><ignition_frame_id>a</ignition_frame_id>
           <lidar><scan><horizontal><samples>-1</samples></horizontal></scan></lidar></sensor></link>",
        "<link name='b'><sensor type='imu'/><sensor name='s'/><sensor name='s' type='imu'/></link>",
        "<link name='b'><visual name='v'><geometry><sphere><radius>1</radius></sphere></geometry>
           <material><gz_map/><pbr><metal><gz_map>a</gz_map></metal></pbr>
           <script>Gazebo/Grey</script></material></visual></link>",
        "<plugin name='p'><a::b/></plugin>",
    ] {
        let loaded = load(&model(&format!("<link name='a'/>{foreign}")));
        let bodies = 2 + usize::from(foreign.contains("<link"));
        assert_eq!(loaded.plant.num_bodies(), bodies, "{foreign}");
        let said = &loaded.said;
        assert!(said.iter().all(|s| s.contains(": warning: ")), "{said:?}");
    }
}

#[test]
fn misspelt_names_and_those_of_urdf_stay_errors() {
    for wrong in [
        "<link name='b'><inertail/></link>",
        "<link name='b'><origin xyz='0 0 1'/></link>",
        "<link name='b'><inertial><mass value='2'/></inertial></link>",
        "<link name='b'><inertial mass='2'/></link>",
        "<link name='b'><pose frame='a'>0 0 0 0 0 0</pose></link>",
        "<jiont name='j' type='fixed'/>",
    ] {
        let said = try_load(&model(&format!("<link name='a'/>{wrong}")))
            .map(|_| ())
            .unwrap_err();
        assert!(said[0].contains("did you mean"), "{said:?}");
    }
}

#[test]
fn worlds_and_old_files_are_sdformat() {
    let folder = tempfile::tempdir().unwrap();
    let world = "<?xml version='1.0'?><gazebo version='1.2'><world name='w'><physics type='ode'>
        <update_rate>1</update_rate></physics><model name='m'><pose>0 0 2 0 0 0</pose>
        <link name='a'><inertial><mass>3</mass></inertial></link></model></world></gazebo>";
    for name in ["a.world", "b.WORLD", "c.sdf"] {
        let file = folder.path().join(name);
        fs::write(&file, world).unwrap();
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        let mut parser = Parser::new(&mut plant);
        parser
            .add_models(&file)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let said = parser.diagnostics();
        assert!(
            said.iter().all(|d| !d.message.contains("version")),
            "{said:?}"
        );
        let body = plant.body_by_name("a").unwrap();
        assert_eq!(plant.body(body).unwrap().spatial_inertia().mass(), 3.0);
    }
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    Parser::new(&mut plant)
        .add_models_from_string(world, "world")
        .unwrap();
    // Version 1.0 keeps values in attributes; pydrake 1.51 reads the same mass and pose.
    let old = "<gazebo version='1.0'><model name='m'><link name='a'><origin pose='0 0 .5 0 0 0'/>
        <inertial mass='2'><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>
        <collision name='c'><geometry><box size='1 2 3'/></geometry></collision></link>
        <link name='b'/><joint name='j' type='revolute'><parent link='a'/><child link='b'/>
        <axis xyz='0 1 0'><limit lower='-1' upper='1'/></axis></joint></model></gazebo>";
    let loaded = load(old);
    let plant = &loaded.plant;
    let body = plant.body_by_name("a").unwrap();
    assert_eq!(plant.body(body).unwrap().spatial_inertia().mass(), 2.0);
    let joint = plant.joint(plant.joint_by_name("j").unwrap()).unwrap();
    assert_eq!(joint.position_lower_limits(), [-1.0]);
    let include =
        "<sdf version='1.9'><world name='w'><include><uri>m.world</uri></include></world></sdf>";
    let model = "<sdf version='1.6'><model name='m'><link name='a'/></model></sdf>";
    fs::write(folder.path().join("m.world"), model).unwrap();
    fs::write(folder.path().join("top.world"), include).unwrap();
    let directives = "directives:\n- add_model:\n    name: n\n    file: package://p/m.world\n";
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.add_models(folder.path().join("top.world")).unwrap();
    parser.package_map_mut().add("p", folder.path()).unwrap();
    parser
        .add_models_from_string(directives, "dmd.yaml")
        .unwrap();
    assert_eq!(plant.num_bodies(), 3);
}
