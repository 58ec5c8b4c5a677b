//! Tests of fingerprints, and of encodings against bytes that Drake 1.51.1 sent.

use super::*;
use crate::LcmMessage;

/// Compares with the fingerprint of lcm-gen's Python type in pydrake 1.51.1.
fn fingerprint<M: LcmMessage>(expected: u64) {
    assert_eq!(M::fingerprint(), expected, "{}", M::NAME);
}

#[test]
fn fingerprints_match_lcm_gen() {
    fingerprint::<LcmtAllegroCommand>(0xddc7c7738c815334);
    fingerprint::<LcmtAllegroStatus>(0x1a46b4a9658f67a3);
    fingerprint::<LcmtCallPython>(0x4aa7d3383cdd25cb);
    fingerprint::<LcmtCallPythonData>(0x74a30bccc23949d1);
    fingerprint::<LcmtContactResultsForViz>(0x114c15ea77683b45);
    fingerprint::<LcmtDrakeSignal>(0x46dce7d9adf87264);
    fingerprint::<LcmtForceTorque>(0x73206439325b65c5);
    fingerprint::<LcmtHeader>(0x124e586663318e54);
    fingerprint::<LcmtHydroelasticContactSurfaceForViz>(0xfd46c8e07468606e);
    fingerprint::<LcmtHydroelasticQuadraturePerPointDataForViz>(0x81278726783d83b3);
    fingerprint::<LcmtIiwaCommand>(0xddc7c7738c815334);
    fingerprint::<LcmtIiwaStatus>(0xf16fb804284abca3);
    fingerprint::<LcmtIiwaStatusTelemetry>(0x9c0f580e57b0d5d3);
    fingerprint::<LcmtImage>(0xbd7080d565ec47d1);
    fingerprint::<LcmtImageArray>(0x1572a7d08d9022e6);
    fingerprint::<LcmtJacoCommand>(0x9472f21c3e4fc416);
    fingerprint::<LcmtJacoStatus>(0x9bc39ecbb8de40c8);
    fingerprint::<LcmtPandaCommand>(0xe68df777004d59d0);
    fingerprint::<LcmtPandaStatus>(0x19571cdf4d82fae6);
    fingerprint::<LcmtPoint>(0xae7e5fba5eeca11e);
    fingerprint::<LcmtPointCloud>(0x17f2c128b5d25a95);
    fingerprint::<LcmtPointCloudField>(0xd2628d58fb331b3f);
    fingerprint::<LcmtPointPairContactInfoForViz>(0x124e4a5c0c2ee1e9);
    fingerprint::<LcmtQuaternion>(0x365bdd4bf9100a1f);
    fingerprint::<LcmtRobotPlan>(0x0cd6aa5c6fc8b056);
    fingerprint::<LcmtRobotState>(0x84cfb1722d58bd59);
    fingerprint::<LcmtSchunkWsgCommand>(0x4553bc1bff499216);
    fingerprint::<LcmtSchunkWsgStatus>(0xec6aee3fc5ae4612);
    fingerprint::<LcmtScope>(0x900d93672b47f7de);
    fingerprint::<LcmtViewerCommand>(0xf0f1f64f2569512e);
    fingerprint::<LcmtViewerDraw>(0x414f0bfe5b2f4244);
    fingerprint::<LcmtViewerGeometryData>(0x5d2e34cb3257db07);
    fingerprint::<LcmtViewerLinkData>(0x51252725af982a63);
    fingerprint::<LcmtViewerLoadRobot>(0x8987209b10aa2d39);
}

/// Decodes bytes that Drake sent, and compares them with the message encoded again.
fn round_trip<M: LcmMessage>(hex: &str) -> M {
    let digits = hex.trim();
    let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
    let message = M::decode(&bytes).unwrap();
    assert_eq!(message.encode().unwrap(), bytes);
    M::check(&bytes).unwrap();
    // No byte of a message may be missing or added.
    for length in 0..bytes.len() {
        assert!(M::decode(&bytes[..length]).is_err(), "{length} bytes");
    }
    assert!(M::decode(&[&bytes[..], &[0]].concat()).is_err());
    message
}

#[test]
fn load_and_draw_messages_of_drake_round_trip() {
    let load: LcmtViewerLoadRobot = round_trip(include_str!(
        "../../tests/captures/DRAKE_VIEWER_LOAD_ROBOT.hex"
    ));
    assert_eq!(load.link.len(), 2);
    let world = &load.link[0];
    assert_eq!((&*world.name, world.robot_num), ("world", 0));
    assert_eq!(world.geom[0].r#type, LcmtViewerGeometryData::BOX);
    assert_eq!(world.geom[0].float_data, [50.0, 50.0, 1.0]);
    assert_eq!(world.geom[1].color, [0.1, 0.2, 0.3, 0.4]);
    let shapes = load.link[1].geom.iter().map(|g| g.r#type);
    assert_eq!(shapes.collect::<Vec<_>>(), [2, 3, 5, 6, 4, 4, 4]);

    let draw: LcmtViewerDraw =
        round_trip(include_str!("../../tests/captures/DRAKE_VIEWER_DRAW.hex"));
    assert_eq!(draw.timestamp, 250);
    assert_eq!(draw.link_name, ["src::frameA"]);
    let deformable: LcmtViewerLinkData = round_trip(include_str!(
        "../../tests/captures/DRAKE_VIEWER_DEFORMABLE.hex"
    ));
    assert_eq!(deformable.name, "deformable_geometries");
    round_trip::<LcmtViewerLoadRobot>(include_str!(
        "../../tests/captures/DRAKE_VIEWER_LOAD_ROBOT_PROXIMITY.hex"
    ));
    round_trip::<LcmtViewerLoadRobot>(include_str!(
        "../../tests/captures/plant_DRAKE_VIEWER_LOAD_ROBOT.hex"
    ));
}

#[test]
fn image_arrays_of_drake_round_trip() {
    for (hex, method) in [
        (include_str!("../../tests/captures/IMG_raw.hex"), 0),
        (include_str!("../../tests/captures/IMG_zlib.hex"), 1),
    ] {
        let array: LcmtImageArray = round_trip(hex);
        assert_eq!(array.header.utime, 1_250_000);
        let names = array.images.iter().map(|i| &*i.header.frame_name);
        assert_eq!(names.collect::<Vec<_>>(), ["color", "depth", "label"]);
        let sizes = array
            .images
            .iter()
            .map(|i| (i.width, i.height, i.row_stride));
        assert_eq!(sizes.collect::<Vec<_>>(), [(2, 3, 8), (2, 3, 8), (2, 3, 4)]);
        assert!(
            array
                .images
                .iter()
                .all(|i| i.compression_method == method && !i.bigendian)
        );
    }
}
