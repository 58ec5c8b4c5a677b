//! The port tables in the documentation of systems match the declared ports.

use nalgebra::Isometry3;
use std::collections::BTreeSet;
use tarragon::fem::DeformableBodyConfig;
use tarragon::framework::SystemInfo;
use tarragon::framework::primitives::*;
use tarragon::framework::random::RandomDistribution;
use tarragon::framework::trajectories::PiecewisePolynomial;
use tarragon::lcm::types::LcmtPoint;
use tarragon::lcm::{
    Lcm, LcmInterfaceSystem, LcmLog, LcmLogPlaybackSystem, LcmPublisherSystem, LcmScopeSystem,
    LcmSubscriberSystem,
};
use tarragon::multibody::{
    Joint, ModelInstanceIndex, ModelSensor, MultibodyPlantBuilder, PositionSource, SensorSubject,
    SpatialInertia,
};
use tarragon::prelude::*;
use tarragon::sensors::{
    BaseField, CameraInfo, ClippingRange, ColorRenderCamera, Depth32F, DepthImageToPointCloud,
    DepthRange, DepthRenderCamera, ImageToLcmImageArrayT, LcmImageArrayToImages, LcmToPointCloud,
    ModelSensors, PointCloudToLcm, RenderCameraCore, Rgba8U, RgbdSensorAsync,
    RgbdSensorAsyncConfig, RgbdSensorDiscrete, RotaryEncoders,
};
use tarragon::visualization::{
    ContactResultsToLcmSystem, ContactVisualizer, DrakeVisualizer, JointSliders, Meshcat,
    MeshcatParams, MeshcatPointCloudVisualizer, MeshcatPoseSliders, MeshcatVisualizer,
};

/// Names in the rows `| kind | names | ...` of the first documented table of a source file.
fn documented(source: &str, kind: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in source.lines() {
        let cells: Vec<&str> = line
            .trim()
            .trim_start_matches("///")
            .split('|')
            .map(str::trim)
            .collect();
        if cells.len() > 3 && cells[1] == kind {
            names.extend(cells[2].split('`').skip(1).step_by(2).map(String::from));
        }
    }
    names
}

/// The ports that a system declares.
fn declared<S: LeafSystem<f64>>(system: S) -> SystemInfo {
    let mut b = DiagramBuilder::new();
    b.add_f64("system", system);
    b.build().unwrap().systems().next().unwrap()
}

fn check(source: &str, infos: &[SystemInfo]) {
    let all = |ports: fn(&SystemInfo) -> &Vec<String>| {
        infos
            .iter()
            .flat_map(|i| ports(i).clone())
            .collect::<BTreeSet<_>>()
    };
    let name = source.lines().next().unwrap();
    assert_eq!(
        documented(source, "input"),
        all(|i| &i.input_ports),
        "inputs of {name}"
    );
    assert_eq!(
        documented(source, "output"),
        all(|i| &i.output_ports),
        "outputs of {name}"
    );
}

macro_rules! primitive {
    ($file:literal, $system:expr) => {
        check(
            include_str!(concat!("../framework/src/primitives/", $file)),
            &[declared($system)],
        )
    };
}

/// y = u.
struct Identity;

impl VectorFunctions for Identity {
    fn output<T: Scalar>(&self, _: T, _: &[T], u: &[T], y: &mut [T]) -> Result<()> {
        y.copy_from_slice(u);
        Ok(())
    }
}

#[test]
fn ports_of_primitives() {
    let line = PiecewisePolynomial::first_order_hold(&[0.0, 1.0], &[vec![0.0], vec![1.0]]).unwrap();
    primitive!("adder.rs", Adder::new(2, 1));
    primitive!(
        "constant_vector_source.rs",
        ConstantVectorSource::new([1.0])
    );
    primitive!("gain.rs", Gain::new(1, 1.0));
    primitive!("integrator.rs", Integrator::new(1));
    primitive!("sine.rs", Sine::new(1).with_input());
    primitive!("trajectory_source.rs", TrajectorySource::new(line, 1));
    primitive!("vector_log_sink.rs", VectorLogSink::per_step(1));
    primitive!("zero_order_hold.rs", ZeroOrderHold::new(1, 0.1, 0.0));
    primitive!(
        "zero_order_hold.rs",
        ValueZeroOrderHold::new(1_u8, 0.1, 0.0)
    );
}

#[test]
fn ports_of_state_space_and_control_primitives() {
    let one = || nalgebra::dmatrix![1.0];
    let linear = LinearSystem::new(one(), one(), one(), one()).unwrap();
    primitive!("affine_system.rs", linear.as_affine().clone());
    primitive!("linear_system.rs", linear);
    primitive!("matrix_gain.rs", MatrixGain::new(one()).unwrap());
    let derivative = DiscreteDerivative::new(1, 0.1).unwrap();
    primitive!("discrete_derivative.rs", derivative);
    let delay = DiscreteTimeDelay::new(1, 0.1, 1).unwrap();
    primitive!("discrete_time_delay.rs", delay);
    let delay = ValueDiscreteTimeDelay::new(1_u8, 0.1, 1).unwrap();
    primitive!("discrete_time_delay.rs", delay);
    let integrator = DiscreteTimeIntegrator::new(1, 0.1).unwrap();
    primitive!("discrete_time_integrator.rs", integrator);
    let filter = FirstOrderLowPassFilter::new([1.0]).unwrap();
    primitive!("first_order_low_pass_filter.rs", filter);
    let pid = PidController::new([1.0], [1.0], [1.0]).unwrap();
    primitive!("pid_controller.rs", pid);
    let states = StateInterpolatorWithDiscreteDerivative::new(1, 0.1).unwrap();
    primitive!("state_interpolator.rs", states);
    let noise = RandomSource::new(1, 0.1, RandomDistribution::Uniform).unwrap();
    primitive!("random_source.rs", noise);
    let closure = VectorSystem::new(1, 1, |_, _, _, _| Ok(()));
    primitive!("vector_system.rs", closure);
    let functions = VectorSystem::from_functions(1, 1, Identity);
    primitive!("vector_system.rs", functions);
}

#[test]
fn ports_of_routing_primitives() {
    primitive!("demultiplexer.rs", Demultiplexer::new([1, 1]));
    primitive!("multiplexer.rs", Multiplexer::new([1, 1]));
    primitive!("pass_through.rs", PassThrough::new(1));
    primitive!("pass_through.rs", ValuePassThrough::new(1));
    primitive!("constant_value_source.rs", ConstantValueSource::new(1));
    primitive!("port_switch.rs", PortSwitch::new(2, 1));
    primitive!("port_switch.rs", ValuePortSwitch::new(2, 1_u8));
    let selector = Selector::new([1, 1], [vec![(0, 0)], vec![]]).unwrap();
    primitive!("selector.rs", selector);
    primitive!("wrap_to_system.rs", WrapToSystem::new(1));
    primitive!("saturation.rs", Saturation::with_limit_ports(1));
}

#[test]
fn ports_of_scene_graph() {
    let mut scene = SceneGraph::new();
    scene.register_source("{source}").unwrap();
    let source = include_str!("../geometry/src/scene/scene_graph.rs");
    check(source, &[declared(scene)]);
}

#[test]
fn ports_of_multibody_plant() {
    let mut scene = SceneGraph::new();
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let inertia = SpatialInertia::zero();
    let arm = plant.add_rigid_body("arm", model, inertia).unwrap();
    let joint = Joint::revolute("joint", BodyIndex::WORLD, arm, Vector3::z()).unwrap();
    let joint = plant.add_joint(joint).unwrap();
    plant.add_joint_actuator("motor", joint, 1.0).unwrap();
    let ball = Sphere::new(0.1).unwrap();
    let ball = GeometryInstance::new(Isometry3::identity(), ball, "ball").unwrap();
    let ball = ball.with_proximity(ProximityProperties::new());
    plant
        .register_deformable_body(&mut scene, ball, &DeformableBodyConfig::default(), 0.2)
        .unwrap();
    let mut with_state = declared(plant.clone().build().unwrap());
    // Documented once for all model instances.
    let ports = [&mut with_state.input_ports, &mut with_state.output_ports];
    for name in ports.into_iter().flatten() {
        for model in plant.model_instance_names() {
            if let Some(rest) = name.strip_prefix(&format!("{model}_")) {
                *name = format!("{{model}}_{rest}");
            }
        }
    }
    plant.set_position_source(PositionSource::InputPort);
    let with_input = declared(plant.build().unwrap());
    check(
        include_str!("../multibody/src/plant/ports.rs"),
        &[with_state, with_input],
    );
}

#[test]
fn ports_of_sensors() {
    let info = CameraInfo::from_fov_y(4, 3, 1.0).unwrap();
    let core = RenderCameraCore::new(
        "cpu",
        info,
        ClippingRange::new(0.1, 1.0).unwrap(),
        Isometry3::identity(),
    );
    let color = ColorRenderCamera::from_core(core.clone());
    let depth = DepthRenderCamera::from_core(core, DepthRange::new(0.1, 1.0).unwrap()).unwrap();
    let world = SceneGraph::new().world_frame_id();
    let camera = RgbdSensor::from_depth_camera(world, Isometry3::identity(), depth.clone());
    let mut b = DiagramBuilder::new();
    let discrete = RgbdSensorDiscrete::new(camera.clone(), 0.1, true).unwrap();
    discrete.add_to(&mut b, "camera").unwrap();
    let exported: Vec<SystemInfo> = b.build().unwrap().exports().collect();
    check(
        include_str!("../sensors/src/cameras/rgbd_sensor_discrete.rs"),
        &exported,
    );
    check(
        include_str!("../sensors/src/cameras/rgbd_sensor.rs"),
        &[declared(camera)],
    );
    let config = RgbdSensorAsyncConfig {
        color_camera: Some(color),
        depth_camera: Some(depth),
        render_label_image: true,
        ..RgbdSensorAsyncConfig::default()
    };
    let camera = RgbdSensorAsync::new(world, Isometry3::identity(), config).unwrap();
    // Its second table is a time line.
    let source = include_str!("../sensors/src/cameras/rgbd_sensor_async.rs");
    check(source, &[declared(camera)]);
    let fields = BaseField::XYZS | BaseField::RGBS;
    let to_cloud = DepthImageToPointCloud::<Depth32F>::new(info, fields).unwrap();
    check(
        include_str!("../sensors/src/point_cloud/from_depth_image.rs"),
        &[declared(to_cloud)],
    );
    let encoders = RotaryEncoders::with_ticks([4]).unwrap();
    check(
        include_str!("../sensors/src/rotary_encoders.rs"),
        &[declared(encoders)],
    );
    let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
    let clock = ModelSensor::new("{sensor}", "clock", SensorSubject::Plant);
    plant.add_model_sensor(clock).unwrap();
    let plant = plant.build().unwrap();
    check(
        include_str!("../sensors/src/model_sensors/system.rs"),
        &[declared(ModelSensors::new(&plant).unwrap())],
    );

    // The writer's ports are named by its user.
    let folder = tempfile::tempdir().unwrap();
    let mut writer = ImageWriter::new();
    let format = folder.path().join("{count}");
    writer
        .declare_image_input_port::<Rgba8U>("mine", format.to_str().unwrap(), 1.0, 0.0)
        .unwrap();
    assert_eq!(declared(writer).input_ports, ["mine"]);

    // So are the ports of the system that makes image messages.
    let mut messages = ImageToLcmImageArrayT::new(false);
    check(
        include_str!("../sensors/src/lcm/image/image_to_lcm.rs"),
        &[declared(ImageToLcmImageArrayT::new(false))],
    );
    messages.declare_image_input_port::<Rgba8U>("mine").unwrap();
    assert_eq!(declared(messages).input_ports, ["mine"]);
    check(
        include_str!("../sensors/src/lcm/image/lcm_to_image.rs"),
        &[declared(LcmImageArrayToImages::new())],
    );
    check(
        include_str!("../sensors/src/lcm/point_cloud.rs"),
        &[
            declared(PointCloudToLcm::new("frame")),
            declared(LcmToPointCloud::new()),
        ],
    );
}

#[test]
fn ports_of_visualization_by_lcm() {
    let lcm = Some(Lcm::with_url("memq://").unwrap());
    let visualizer = DrakeVisualizer::new(lcm, Default::default()).unwrap();
    check(
        include_str!("../visualization/src/drake_visualizer/mod.rs"),
        &[declared(visualizer)],
    );
    check(
        include_str!("../visualization/src/contact_results_to_lcm.rs"),
        &[declared(ContactResultsToLcmSystem::new(None))],
    );
}

#[test]
fn ports_of_visualization() {
    let port = Some(0);
    let params = MeshcatParams {
        port,
        ..Default::default()
    };
    let meshcat = Meshcat::new(params).unwrap();
    let plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let plant = plant.build().unwrap();
    let visualizer = MeshcatVisualizer::new(meshcat.clone(), Default::default()).unwrap();
    check(
        include_str!("../visualization/src/meshcat_visualizer/mod.rs"),
        &[declared(visualizer)],
    );
    let contact = ContactVisualizer::new(meshcat.clone(), Default::default()).unwrap();
    check(
        include_str!("../visualization/src/contact_visualizer/mod.rs"),
        &[declared(contact)],
    );
    let cloud = MeshcatPointCloudVisualizer::new(meshcat.clone(), "cloud").unwrap();
    check(
        include_str!("../visualization/src/meshcat_point_cloud_visualizer.rs"),
        &[declared(cloud)],
    );
    let joints = JointSliders::new(meshcat.clone(), &plant, Default::default()).unwrap();
    check(
        include_str!("../visualization/src/sliders/joints.rs"),
        &[declared(joints)],
    );
    let pose = MeshcatPoseSliders::new(meshcat, Default::default()).unwrap();
    check(
        include_str!("../visualization/src/sliders/pose.rs"),
        &[declared(pose)],
    );
}

#[test]
fn ports_of_lcm() {
    let lcm = Lcm::with_url("memq://").unwrap();
    let publisher = LcmPublisherSystem::<LcmtPoint>::new("A", lcm.clone(), 0.0, 0.0).unwrap();
    check(
        include_str!("../lcm/src/systems/publisher.rs"),
        &[declared(publisher)],
    );
    let subscriber = LcmSubscriberSystem::<LcmtPoint>::new("A", &lcm).unwrap();
    check(
        include_str!("../lcm/src/systems/subscriber.rs"),
        &[declared(subscriber)],
    );
    check(
        include_str!("../lcm/src/systems/scope.rs"),
        &[declared(LcmScopeSystem::new(1))],
    );
    check(
        include_str!("../lcm/src/systems/interface.rs"),
        &[declared(LcmInterfaceSystem::new(lcm))],
    );
    let empty = tempfile::NamedTempFile::new().unwrap();
    let log = LcmLog::open(empty.path()).unwrap();
    check(
        include_str!("../lcm/src/systems/playback.rs"),
        &[declared(LcmLogPlaybackSystem::new(log))],
    );
}
