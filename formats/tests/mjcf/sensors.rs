//! `<sensor>` as MuJoCo reads it.

use super::*;

const MODEL: &str = "<worldbody><site name='ground'/>
  <body name='arm'><joint name='hinge'/><geom size='.1'/><site name='tip' pos='0 0 1'/>
    <body name='hand' pos='0 0 1'><joint name='wrist' type='ball'/><geom size='.1'/></body></body>
  </worldbody><actuator><motor name='motor' joint='hinge'/></actuator>";

fn read(sensors: &str) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let text = format!("<mujoco model='m'>{MODEL}<sensor>{sensors}</sensor></mujoco>");
        p.add_models_from_string(&text, "xml")
    })
}

#[test]
fn sensors_are_kept_with_what_they_are_attached_to() {
    let m = read(
        "<gyro name='imu' site='tip' noise='.1' cutoff='5'/>
         <jointpos joint='hinge'/>
         <ballquat joint='wrist'/>
         <actuatorfrc actuator='motor'/>
         <subtreecom body='arm'/>
         <framepos objtype='body' objname='hand' reftype='site' refname='ground'/>
         <framequat objtype='xbody' objname='world'/>
         <clock/>",
    );
    m.says_nothing();
    let [arm, hand] = ["arm", "hand"].map(|name| m.plant.body_by_name(name).unwrap());
    let [hinge, wrist] = ["hinge", "wrist"].map(|name| m.plant.joint_by_name(name).unwrap());
    let motor = m.plant.joint_actuator_by_name("motor").unwrap();
    let instance = m.plant.model_instance_by_name("m").unwrap();
    let [ground, tip] = [0, 1].map(SensorSubject::Site);
    let expected = [
        ("imu", "gyro", tip),
        ("sensor1", "jointpos", SensorSubject::Joint(hinge)),
        ("sensor2", "ballquat", SensorSubject::Joint(wrist)),
        ("sensor3", "actuatorfrc", SensorSubject::Actuator(motor)),
        ("sensor4", "subtreecom", SensorSubject::Body(arm)),
        ("sensor5", "framepos", SensorSubject::CenterOfMass(hand)),
        (
            "sensor6",
            "framequat",
            SensorSubject::Body(BodyIndex::WORLD),
        ),
        ("sensor7", "clock", SensorSubject::Plant),
    ];
    let mut expected = expected.map(|(name, kind, subject)| {
        let mut sensor = ModelSensor::new(name, kind, subject);
        sensor.model_instance = instance;
        sensor
    });
    (expected[0].noise, expected[0].cutoff) = (0.1, 5.0);
    expected[5].reference = Some(ground);
    assert_eq!(m.plant.model_sensors(), expected);
    // Drake ignores them.
    let text = format!("<mujoco model='m'>{MODEL}<sensor><clock/></sensor></mujoco>");
    let m = load(&text).ok();
    m.says("<sensor> is ignored: sensors are not part of models");
    assert_eq!(m.plant.model_sensors(), []);
}

#[test]
fn sensors_without_a_subject_are_left_out() {
    for (sensor, why) in [
        (
            "<gyro name='a' site='top'/>",
            "sensor 'a' is left out: there is no site 'top'",
        ),
        ("<gyro name='a'/>", "it names nothing that it measures"),
        ("<jointpos joint='x'/>", "there is no joint 'x'"),
        ("<actuatorpos actuator='x'/>", "there is no actuator 'x'"),
        ("<subtreecom body='x'/>", "there is no body 'x'"),
        (
            "<framepos objtype='geom' objname='x'/>",
            "not to 'x' of type 'geom'",
        ),
        (
            "<framepos objtype='joint' objname='hinge'/>",
            "not to 'hinge' of type 'joint'",
        ),
        (
            "<framepos objtype='site' objname='tip' reftype='actuator' refname='motor'/>",
            "not to 'motor' of type 'actuator'",
        ),
        (
            "<framepos objtype='site' objname='tip' reftype='body' refname='x'/>",
            "there is no body 'x'",
        ),
        (
            "<tendonpos tendon='x'/>",
            "<tendonpos> is ignored: the plant has no such sensors",
        ),
        (
            "<clock user='1'/>",
            "attribute 'user' of <clock> is ignored",
        ),
    ] {
        let m = read(sensor).ok();
        m.warns(&[why]);
        let kept = usize::from(sensor.contains("clock"));
        assert_eq!(m.plant.model_sensors().len(), kept, "{sensor}");
    }
    let error = "the noise must not be negative and the cutoff must be positive, got -1.0";
    read("<clock noise='-1'/>").refuses(error);
    read("<clock cutoff='-1'/>").refuses("got 0.0 and -1.0");
}

#[test]
fn sensors_of_other_plants_are_refused() {
    let m = read("");
    let hinge = m.plant.joint_by_name("hinge").unwrap();
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    for subject in [SensorSubject::Joint(hinge), SensorSubject::Site(0)] {
        let error = plant.add_model_sensor(ModelSensor::new("s", "jointpos", subject));
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("sensor 's': "), "{error}");
    }
    let mut sensor = ModelSensor::new("s", "framepos", SensorSubject::Body(BodyIndex::WORLD));
    sensor.reference = Some(SensorSubject::Plant);
    let error = plant.add_model_sensor(sensor).unwrap_err();
    assert!(error.to_string().contains("a body or a site, got Plant"));
    assert_eq!(plant.model_sensors(), []);
}

#[test]
fn kinds_must_fit_their_subjects() {
    let mut plant = read("").plant;
    let body = plant.body_by_name("arm").unwrap();
    let joint = plant.joint_by_name("hinge").unwrap();
    let motor = plant.joint_actuator_by_name("motor").unwrap();
    let subjects = [
        SensorSubject::Plant,
        SensorSubject::Body(body),
        SensorSubject::CenterOfMass(body),
        SensorSubject::Site(0),
        SensorSubject::Joint(joint),
        SensorSubject::Actuator(motor),
    ];
    for (kind, fitting, required) in [
        ("clock", &[0][..], "the plant"),
        ("subtreecom", &[1], "a body"),
        (
            "framexaxis",
            &[1, 2, 3],
            "a body, a center of mass or a site",
        ),
        ("gyro", &[3], "a site"),
        ("jointpos", &[4], "a joint"),
        ("actuatorvel", &[5], "an actuator"),
        // MJCF does not have it.
        ("odometer", &[0, 1, 2, 3, 4, 5], ""),
    ] {
        for (i, subject) in subjects.into_iter().enumerate() {
            let added = plant.add_model_sensor(ModelSensor::new("s", kind, subject));
            if fitting.contains(&i) {
                added.unwrap()
            } else {
                let start = format!("sensor 's': the subject of '{kind}' must be {required}, ");
                let error = added.unwrap_err().to_string();
                assert!(error.starts_with(&start), "{error}");
            }
        }
    }
    let mut sensor = ModelSensor::new("s", "gyro", SensorSubject::Site(0));
    sensor.reference = Some(SensorSubject::Body(body));
    let error = plant.add_model_sensor(sensor).unwrap_err().to_string();
    assert!(
        error.contains("the reference of 'gyro' must be absent"),
        "{error}"
    );
}

#[test]
fn names_of_sensors_differ() {
    let m = read(
        "<clock/><clock name='sensor0'/><clock name='sensor0_'/><jointpos name='x' joint='hinge'/>
         <clock name='x'/>",
    );
    m.warns(&["sensor 'x' is left out", "another sensor has this name"]);
    let sensors = m.plant.model_sensors().iter();
    let names: Vec<(&str, &str)> = sensors.map(|s| (&*s.name, &*s.kind)).collect();
    let expected = [
        ("sensor0__", "clock"),
        ("sensor0", "clock"),
        ("sensor0_", "clock"),
        ("x", "jointpos"),
    ];
    assert_eq!(names, expected);
}
