//! Sensors of model files: closed forms, properties and errors.

mod mujoco;

use std::f64::consts::FRAC_PI_2;
use tarragon_formats::*;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;
use tarragon_sensors::*;

/// A diagram of a plant and its sensors.
struct Model {
    plant: Block<MultibodyPlant>,
    sensors: Block<ModelSensors>,
    unmeasured: Vec<UnmeasuredSensor>,
    diagram: Diagram<f64>,
}

/// Reads models as by MuJoCo, without warnings.
fn read(models: &[&str]) -> MultibodyPlantBuilder {
    let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
    for model in models {
        parser.add_models_from_string(model, "xml").unwrap();
    }
    let said: Vec<String> = parser.diagnostics().iter().map(|d| d.to_string()).collect();
    assert_eq!(said, [""; 0]);
    plant
}

impl Model {
    fn new(plant: MultibodyPlantBuilder) -> Self {
        let mut b = DiagramBuilder::new();
        let plant = b.add("plant", plant.build().unwrap());
        let (sensors, unmeasured) = add_sensors_from_model(&mut b, "sensors", &plant).unwrap();
        Self {
            plant,
            sensors,
            unmeasured,
            diagram: b.build().unwrap(),
        }
    }
    fn context(&self, q: &[f64], v: &[f64]) -> Context<f64> {
        let mut ctx = self.diagram.default_context();
        self.plant.set_positions(&mut ctx, q).unwrap();
        self.plant.set_velocities(&mut ctx, v).unwrap();
        ctx
    }
    fn eval(&self, ctx: &Context<f64>, sensor: &str) -> Vec<f64> {
        let port = self.sensors.sensor(sensor).unwrap();
        ctx.eval(port).unwrap().clone()
    }
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-14, "{found:?}, not {expected:?}");
    }
}

/// A rod of 2 kg that turns about z of the world. Its mass is at 1 m, a site at 2 m.
fn rod(sensors: &str) -> String {
    format!(
        "<mujoco model='rod'><option gravity='0 -10 0'/><worldbody><site name='base' pos='0 0 1'/>
           <body name='rod'><joint name='turn' axis='0 0 1' armature='.5'/>
             <inertial pos='1 0 0' mass='2' diaginertia='.1 .2 .3'/>
             <site name='tip' pos='2 0 0'/></body></worldbody>
         <actuator><motor name='motor' joint='turn' gear='-3'/></actuator>
         <sensor>{sensors}</sensor></mujoco>"
    )
}

/// Sensors of the rod.
const OF_ROD: &str = "<clock name='clock'/>
  <jointpos name='jointpos' joint='turn'/><jointvel name='jointvel' joint='turn'/>
  <actuatorpos name='actuatorpos' actuator='motor'/>
  <actuatorvel name='actuatorvel' actuator='motor'/>
  <framepos name='framepos' objtype='site' objname='tip' reftype='site' refname='base'/>
  <framequat name='framequat' objtype='xbody' objname='rod'/>
  <framexaxis name='framexaxis' objtype='xbody' objname='rod'/>
  <frameyaxis name='frameyaxis' objtype='xbody' objname='rod'/>
  <framezaxis name='framezaxis' objtype='xbody' objname='rod'/>
  <framelinvel name='framelinvel' objtype='body' objname='rod'/>
  <framelinvel name='seen' objtype='site' objname='base' reftype='site' refname='tip'/>
  <frameangvel name='frameangvel' objtype='site' objname='tip'/>
  <velocimeter name='velocimeter' site='tip'/><gyro name='gyro' site='tip'/>
  <subtreecom name='subtreecom' body='rod'/><subtreelinvel name='subtreelinvel' body='rod'/>
  <subtreeangmom name='subtreeangmom' body='rod'/>
  <e_kinetic name='e_kinetic'/><e_potential name='e_potential'/>";

/// The rod points along y and turns at 2 rad/s.
#[test]
fn measurements_of_a_rod_have_closed_forms() {
    let model = Model::new(read(&[&rod(OF_ROD)]));
    assert_eq!(model.unmeasured, []);
    let mut ctx = model.context(&[FRAC_PI_2], &[2.0]);
    ctx.set_time(0.25);
    let half = 0.5_f64.sqrt();
    let expected: [(&str, &[f64]); 20] = [
        ("clock", &[0.25]),
        ("jointpos", &[FRAC_PI_2]),
        ("jointvel", &[2.0]),
        ("actuatorpos", &[-3.0 * FRAC_PI_2]),
        ("actuatorvel", &[-6.0]),
        ("framepos", &[0.0, 2.0, -1.0]),
        ("framequat", &[half, 0.0, 0.0, half]),
        ("framexaxis", &[0.0, 1.0, 0.0]),
        ("frameyaxis", &[-1.0, 0.0, 0.0]),
        ("framezaxis", &[0.0, 0.0, 1.0]),
        ("framelinvel", &[-2.0, 0.0, 0.0]),
        // The base is at rest on the axis, so it seems to turn backwards about the axis of the rod.
        ("seen", &[0.0, 0.0, 0.0]),
        ("frameangvel", &[0.0, 0.0, 2.0]),
        ("velocimeter", &[0.0, 4.0, 0.0]),
        ("gyro", &[0.0, 0.0, 2.0]),
        ("subtreecom", &[0.0, 1.0, 0.0]),
        ("subtreelinvel", &[-2.0, 0.0, 0.0]),
        ("subtreeangmom", &[0.0, 0.0, 0.6]),
        ("e_kinetic", &[0.5 * (0.3 + 2.0 + 0.5) * 4.0]),
        ("e_potential", &[20.0]),
    ];
    let mut all = vec![];
    for (name, expected) in expected {
        assert_near(&model.eval(&ctx, name), expected);
        all.extend_from_slice(expected);
    }
    assert_near(ctx.eval(model.sensors.sensordata).unwrap(), &all);
    let measured: Vec<&MeasuredSensor> = model.sensors.system().measured().collect();
    assert_eq!(
        (measured.len(), measured[6].name.as_str()),
        (20, "framequat")
    );
    assert_eq!((measured[6].sensor, measured[6].range.clone()), (6, 8..12));
}

/// Two arms, one of which carries a ball.
const ARMS: &str = "<mujoco model='arms'><worldbody>
    <body name='a' pos='1 0 0' euler='10 20 30'><joint name='h' axis='1 2 3' pos='.1 .2 .3'/>
      <inertial pos='.1 .2 .3' mass='2' diaginertia='.1 .2 .3'/><site name='s' pos='0 1 2'/>
      <body name='b' pos='0 1 0'><joint name='w' type='ball' pos='.3 0 0'/>
        <inertial pos='.3 .2 .1' mass='1' diaginertia='.1 .2 .3'/>
        <site name='t' pos='1 1 1' euler='50 0 70'/></body></body>
    <body name='c' pos='0 2 0'><joint name='p' type='slide' axis='1 1 0'/>
      <joint name='g' axis='0 1 1'/>
      <inertial pos='.3 .2 .1' mass='1' diaginertia='.1 .2 .3'/>
      <site name='u' pos='0 0 1' euler='0 40 0'/></body></worldbody>
  <sensor>
    <framepos name='p0' objtype='site' objname='t'/>
    <framelinvel name='v0' objtype='site' objname='t'/>
    <framepos name='p1' objtype='site' objname='t' reftype='site' refname='u'/>
    <framelinvel name='v1' objtype='site' objname='t' reftype='site' refname='u'/>
    <framepos name='p2' objtype='body' objname='b' reftype='xbody' refname='a'/>
    <framelinvel name='v2' objtype='body' objname='b' reftype='xbody' refname='a'/>
    <subtreecom name='p3' body='a'/><subtreelinvel name='v3' body='a'/>
    <subtreecom name='p4' body='world'/><subtreelinvel name='v4' body='world'/>
    <jointpos name='p5' joint='g'/><jointvel name='v5' joint='g'/>
    <framexaxis name='x' objtype='site' objname='t' reftype='site' refname='u'/>
    <frameangvel name='w' objtype='site' objname='t' reftype='site' refname='u'/>
    <ballquat name='ball' joint='w'/><ballangvel name='spin' joint='w'/>
    <e_kinetic name='kinetic'/></sensor></mujoco>";

#[test]
fn velocities_are_derivatives_of_positions() {
    let model = Model::new(read(&[ARMS]));
    let plant = &model.plant;
    let (q, v) = (
        [0.3, 0.1, -0.7, 0.5, 0.5, 0.7, -0.8],
        [1.0, -2.0, 0.5, 0.7, -0.3, 1.5],
    );
    let kinematics = plant.calc_position_kinematics(&q).unwrap();
    let qdot = plant.map_velocity_to_qdot(&kinematics, &v).unwrap();
    let diagram = model.diagram.to_scalar::<AutoDiff>().unwrap();
    let plant_ports = diagram.ports(&model.plant).unwrap();
    let ports = diagram.ports(&model.sensors).unwrap();
    let mut ctx = diagram.default_context();
    let moving = |(q, qdot): (&f64, &f64)| {
        let mut q = AutoDiff::from(*q);
        q.eps[0] = *qdot;
        q
    };
    let q: Vec<AutoDiff> = q.iter().zip(&qdot).map(moving).collect();
    plant_ports.set_positions(&mut ctx, &q).unwrap();
    let v: Vec<AutoDiff> = v.iter().map(|v| AutoDiff::from(*v)).collect();
    plant_ports.set_velocities(&mut ctx, &v).unwrap();
    let eval = |name: &str| ctx.eval(ports.sensor(name).unwrap()).unwrap();
    let rates = |name: &str| -> Vec<f64> { eval(name).iter().map(|y| y.eps[0]).collect() };
    let values = |name: &str| -> Vec<f64> { eval(name).iter().map(|y| y.re).collect() };
    for i in 0..6 {
        assert_near(&rates(&format!("p{i}")), &values(&format!("v{i}")));
    }
    // An axis turns with its frame.
    let [x, w] = ["x", "w"].map(|name| nalgebra::Vector3::from_vec(values(name)));
    assert_near(&rates("x"), w.cross(&x).as_slice());
    // The derivative of a quaternion is half its product with the angular velocity.
    let [r, dr] = [values("ball"), rates("ball")];
    let quaternion = |q: &[f64]| nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
    let spin = nalgebra::Quaternion::from_imag(nalgebra::Vector3::from_vec(values("spin")));
    let expected = quaternion(&r) * spin * 0.5;
    assert_near(&dr, &[expected.w, expected.i, expected.j, expected.k]);
    // Every measurement has its derivative in `sensordata` as well.
    let all = ctx.eval(ports.sensordata).unwrap();
    for sensor in model.sensors.system().measured() {
        assert_eq!(&all[sensor.range.clone()], eval(&sensor.name).as_slice());
    }
}

#[test]
fn cutoffs_clamp_all_but_directions() {
    let sensors = "<jointpos name='q' joint='turn' cutoff='.5'/>
      <framepos name='p' objtype='site' objname='tip' cutoff='1.25'/>
      <clock name='t' cutoff='2'/>";
    let mut plant = read(&[&rod(sensors)]);
    let body = SensorSubject::Body(plant.body_by_name("rod").unwrap());
    for kind in ["framequat", "framexaxis"] {
        let mut sensor = ModelSensor::new(kind, kind, body);
        sensor.cutoff = 0.1;
        plant.add_model_sensor(sensor).unwrap();
    }
    let model = Model::new(plant);
    let mut ctx = model.context(&[-FRAC_PI_2], &[0.0]);
    ctx.set_time(3.0);
    let half = 0.5_f64.sqrt();
    assert_near(&model.eval(&ctx, "q"), &[-0.5]);
    assert_near(&model.eval(&ctx, "p"), &[0.0, -1.25, 0.0]);
    assert_near(&model.eval(&ctx, "t"), &[2.0]);
    assert_near(&model.eval(&ctx, "framequat"), &[half, 0.0, 0.0, -half]);
    assert_near(&model.eval(&ctx, "framexaxis"), &[0.0, -1.0, 0.0]);
    // The derivative is that of the constant.
    let diagram = model.diagram.to_scalar::<AutoDiff>().unwrap();
    let plant = diagram.ports(&model.plant).unwrap();
    let port = diagram.ports(&model.sensors).unwrap().sensor("q").unwrap();
    let mut ctx = diagram.default_context();
    for (q, expected) in [(0.4, (0.4, 1.0)), (0.6, (0.5, 0.0))] {
        let q = [AutoDiff::variable(q, 0)];
        plant.set_positions(&mut ctx, q).unwrap();
        let y = ctx.eval(port).unwrap()[0];
        assert_eq!((y.re, y.eps[0]), expected);
    }
}

#[test]
fn equal_names_are_scoped_by_their_models() {
    let one = rod("<jointpos name='q' joint='turn'/><clock name='sensordata'/>");
    let two = rod("<jointpos name='q' joint='turn'/><jointvel name='v' joint='turn'/>")
        .replace("model='rod'", "model='other'");
    let model = Model::new(read(&[&one, &two]));
    let names = model.sensors.system().measured().map(|s| &*s.name);
    let names: Vec<&str> = names.collect();
    assert_eq!(names, ["rod::q", "rod::sensordata", "other::q", "v"]);
    let ctx = model.context(&[1.0, 2.0], &[3.0, 4.0]);
    assert_eq!(
        ctx.eval(model.sensors.sensordata).unwrap(),
        &[1.0, 0.0, 2.0, 4.0]
    );
    let error = model.sensors.sensor("q").unwrap_err().to_string();
    assert!(error.contains("must be one of [\"rod::q\", "), "{error}");
}

#[test]
fn other_sensors_are_listed_with_reasons() {
    let sensors = "<touch name='skin' site='s'/><accelerometer site='s' name='imu'/>
      <rangefinder site='s' name='beam'/><magnetometer site='s' name='north'/>
      <jointlimitpos joint='h' name='stop'/><clock name='time'/>
      <framequat name='axes' objtype='body' objname='b'/>
      <framepos name='far' objtype='site' objname='t' reftype='body' refname='b'/>
      <jointpos joint='w' name='angle'/><ballquat joint='h' name='turn'/>
      <actuatorpos actuator='flexor' name='reach'/>";
    let text = ARMS.split("<sensor>").next().unwrap();
    let pulled = "<tendon><spatial name='u'><site site='s'/><site site='t'/></spatial></tendon>
      <actuator><motor name='flexor' tendon='u'/></actuator>";
    let mut plant = read(&[&format!(
        "{text}{pulled}<sensor>{sensors}</sensor></mujoco>"
    )]);
    let subject = SensorSubject::Plant;
    let odometer = ModelSensor::new("odometer", "odometer", subject);
    plant.add_model_sensor(odometer).unwrap();
    let model = Model::new(plant);
    let measured = model.sensors.system().measured();
    assert_eq!(measured.map(|s| &*s.name).collect::<Vec<_>>(), ["time"]);
    for (found, (name, why)) in model.unmeasured.iter().zip([
        ("skin", "it measures forces, and only functions of"),
        ("imu", "it measures accelerations, and"),
        ("beam", "it measures distances to geometry, and"),
        ("north", "it measures a magnetic field, and"),
        ("stop", "it measures a limit while that acts, and"),
        (
            "axes",
            "it depends on the principal axes of inertia of a body",
        ),
        (
            "far",
            "it depends on the principal axes of inertia of a body",
        ),
        (
            "angle",
            "joint 'w' must have one degree of freedom, got 'ball_quaternion'",
        ),
        ("turn", "joint 'h' must be a ball joint, got 'revolute'"),
        (
            "reach",
            "actuator 'flexor' must drive joints, got a spatial tendon",
        ),
        ("odometer", "the kind 'odometer' is unknown"),
    ]) {
        assert_eq!(found.name, name);
        assert!(found.why.starts_with(why), "{found}");
    }
    assert_eq!(model.unmeasured.len(), 11);
    assert_eq!(model.sensors.system().unmeasured(), model.unmeasured);
    let text = model.unmeasured[10].to_string();
    assert!(
        text.starts_with("sensor 'odometer' (odometer) is not measured: "),
        "{text}"
    );
}

/// Sensors of joints read the state; those of frames need no velocities unless they measure them.
#[test]
fn plants_without_state_measure_frames() {
    let mut plant = read(&[&rod(OF_ROD)]);
    plant.set_position_source(PositionSource::InputPort);
    let model = Model::new(plant);
    let unmeasured: Vec<&str> = model.unmeasured.iter().map(|s| &*s.name).collect();
    let of_state = [
        "jointpos",
        "jointvel",
        "actuatorpos",
        "actuatorvel",
        "e_kinetic",
    ];
    assert_eq!(unmeasured[..5], of_state);
    assert!(model.unmeasured[0].why.contains("PositionSource::State"));
    let mut ctx = model.diagram.default_context();
    let position = model.plant.position().unwrap();
    ctx.fix(position, vec![FRAC_PI_2]).unwrap();
    assert_near(&model.eval(&ctx, "framepos"), &[0.0, 2.0, -1.0]);
    let error = ctx.eval(model.sensors.sensor("gyro").unwrap()).unwrap_err();
    assert!(error.to_string().contains("'plant.velocity'"), "{error}");
    ctx.fix(model.plant.velocity().unwrap(), vec![2.0]).unwrap();
    assert_near(&model.eval(&ctx, "gyro"), &[0.0, 0.0, 2.0]);
}

#[test]
fn mistakes_are_errors() {
    let mut twice = read(&[&rod("<clock name='t'/>")]);
    let again = twice.model_sensors()[0].clone();
    twice.add_model_sensor(again).unwrap();
    let twice = twice.build().unwrap();
    let mut b = DiagramBuilder::new();
    let twice = b.add("plant", twice);
    let error = add_sensors_from_model(&mut b, "sensors", &twice)
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(error.to_string().contains("got 'rod::t' twice"), "{error}");

    let plant = read(&[&rod(OF_ROD)]).build().unwrap();
    let mut b = DiagramBuilder::new();
    let sensors = b.add("sensors", ModelSensors::new(&plant).unwrap());
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(sensors.body_poses, vec![]).unwrap();
    let error = ctx.eval(sensors.sensor("framepos").unwrap()).unwrap_err();
    let text = "input port 'body_poses' must have one value per body, 2 in all, got 0";
    assert!(error.to_string().contains(text), "{error}");
    assert!(ctx.fix(sensors.state, vec![0.0]).is_err());
}
