//! Sites, cameras and keyframes.

use super::*;

#[test]
fn sites_are_kept_apart_from_frames() {
    let m = world_and(
        "<site name='origin'/><body name='a' childclass='q'><freejoint/><geom size='1'/>
           <site name='tip' euler='90 0 0'/><site/><site name='rod' fromto='0 0 0 0 0 -2'/></body>",
        "<default><default class='q'><site pos='0 0 1'/></default></default>",
    );
    assert!(m.warnings().is_empty(), "{:?}", m.warnings());
    assert_eq!(m.plant.sites().len(), 3);
    assert_eq!(m.frame_names(), ["world", "a"]);
    let tip = m.plant.site_by_name("m::tip").unwrap();
    assert_eq!(tip.body(), m.plant.body_by_name("a").unwrap());
    let s = 0.5_f64.sqrt();
    near(numbers(tip.pose_in_body()), [s, s, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let rod = m.plant.site_by_name("rod").unwrap();
    near(
        numbers(rod.pose_in_body()),
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -1.0],
    );
    assert!(m.plant.site_by_name("nope").is_err());
}

#[test]
fn cameras_are_oriented_as_in_mujoco() {
    let m = world(
        "<camera/><body name='a'><freejoint/><camera name='eye' pos='0 0 1' fovy='60' resolution='320 240' output='rgb depth'/><camera/></body>",
    );
    assert!(m.warnings().is_empty(), "{:?}", m.warnings());
    let names: Vec<&str> = m.plant.model_cameras().iter().map(|c| &*c.name).collect();
    assert_eq!(names, ["camera0", "eye", "camera2"]);
    assert_eq!(m.frame_names(), ["world", "a"]);
    let eye = &m.plant.model_cameras()[1];
    assert_eq!(
        (eye.width, eye.height, eye.rgb, eye.depth),
        (320, 240, true, true)
    );
    near([eye.fov_y], [60_f64.to_radians()]);
    // An unrotated MuJoCo camera looks along -z, with y up in its images.
    near((eye.x_fc * Vector3::z()).iter().copied(), [0.0, 0.0, -1.0]);
    near((eye.x_fc * -Vector3::y()).iter().copied(), [0.0, 1.0, 0.0]);
    near(eye.x_fc.translation.vector.iter().copied(), [0.0, 0.0, 1.0]);
    world("<camera mode='trackcom'/>").warns(&["mode 'trackcom' is ignored"]);
    world("<camera orthographic='true'/>").warns(&["perspective"]);
    world("<camera focal='1 1'/>").warns(&["'focal' of <camera>"]);
    let e = world("<camera fovy='0'/>").error();
    assert!(e.contains("camera 'camera0'"), "{e}");
}

const KEYED: &str = "<body name='a' pos='0 0 1'><freejoint/><geom size='1'/>
    <body name='b'><joint name='j' ref='10'/><geom size='1'/>
      <body name='c'><joint name='k' type='ball'/><geom size='1'/></body></body></body>";

#[test]
fn keyframes_are_named_positions() {
    let keys = "<keyframe><key name='up' qpos='1 2 3 0 0 0 2 .5 1 1 0 0'/><key time='1'/>
        <key qpos='0 0 0 1 0 0 0 0 1 0 0 0'/></keyframe>";
    let m = world_and(KEYED, keys).ok();
    assert!(m.warnings().is_empty(), "{:?}", m.warnings());
    let names: Vec<&str> = m.plant.keyframes().iter().map(|k| &*k.name).collect();
    assert_eq!(names, ["up", "key1", "key2"]);
    let q = m.plant.keyframe_positions("up").unwrap();
    let mut poses = vec![];
    m.plant.calc_body_poses(&q, &mut poses).unwrap();
    let pose = |body: &str| poses[m.plant.body_by_name(body).unwrap().index()];
    near(numbers(&pose("a")), [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0]);
    // The hinge turns from its reference position; then the ball joint turns by 90 degrees about x.
    let hinge = pose("a").inv_mul(&pose("b")).rotation;
    near([hinge.angle()], [0.5 - 10_f64.to_radians()]);
    let s = 0.5_f64.sqrt();
    near(
        numbers(&pose("b").inv_mul(&pose("c"))),
        [s, s, 0.0, 0.0, 0.0, 0.0, 0.0],
    );
}

#[test]
fn keyframes_that_do_not_fit_are_reported() {
    let key =
        |attributes: &str| world_and(KEYED, &format!("<keyframe><key {attributes}/></keyframe>"));
    key("name='x' qpos='1 2 3'").warns(&["'x' is left out", "must have 12 numbers", "got 3"]);
    key("qvel='1'").warns(&["'qvel' of <key>"]);
    assert!(key("qpos='1 2 3 inf 0 0 0 .5 1 1 0 0'").result.is_err());
}
