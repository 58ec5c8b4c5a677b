//! Point clouds in LCM messages.

use nalgebra::Vector3;
use tarragon_framework::prelude::*;
use tarragon_lcm::LcmMessage;
use tarragon_lcm::types::{LcmtPointCloud, LcmtPointCloudField};
use tarragon_sensors::*;

/// Messages of `PointCloudToLcm("frame A")` of pydrake 1.51.1 at 1.5 s, for the two points below.
const XYZ: &str = "17f2c128b5d25a95000000000016e360000000086672616d65204100000000000000000200000000000000010000\
    0003000000027800000000000700000001000000027900000000040700000001000000027a00000000080700000001000000000000\
    00020000000c00000000000000180005000000000000000000000000180000003f0000c03f00002040000060400000904000\
    00b040";
const ALL: &str = "17f2c128b5d25a95000000000016e360000000086672616d65204100000000000000000200000000000000010000\
    0007000000027800000000000700000001000000027900000000040700000001000000027a00000000080700000001000000047267\
    62000000000c0600000001000000096e6f726d616c5f780000000010070000000100\
    0000096e6f726d616c5f7900000000140700000001000000096e6f726d616c5f7a0000000018070000000100000000000000020000\
    001c00000000000000380002000000000000000000380000003f0000c03f0000204001020300000000000000803e0000003f000060\
    40000090400000b040040506000000403f0000803f0000a03f";
const RGB: &str = "17f2c128b5d25a95000000000016e360000000086672616d6520410000000000000000020000000000000001000000\
    0100000004726762000000000006000000010000000000000002000000040000000000000008000100000000000000000801020300\
    04050600";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn two_points(fields: BaseField) -> PointCloud {
    let mut cloud = PointCloud::new(2, fields);
    let vector = |i: usize, scale: f32| {
        let i = 3.0 * i as f32;
        Vector3::new(i, i + 1.0, i + 2.0) * scale
    };
    for (i, xyz) in cloud.xyzs_mut().iter_mut().enumerate() {
        *xyz = vector(i, 1.0) + Vector3::repeat(0.5);
    }
    for (i, normal) in cloud.normals_mut().iter_mut().enumerate() {
        *normal = vector(i, 0.25);
    }
    for (i, rgb) in cloud.rgbs_mut().iter_mut().enumerate() {
        *rgb = [1, 2, 3].map(|k| k + 3 * i as u8);
    }
    cloud
}

#[test]
fn messages_agree_with_drake() {
    for (fields, expected) in [
        (BaseField::XYZS, XYZ),
        (BaseField::RGBS, RGB),
        (BaseField::XYZS | BaseField::NORMALS | BaseField::RGBS, ALL),
    ] {
        let mut b = DiagramBuilder::new();
        let to = b.add_f64("to", PointCloudToLcm::new("frame A"));
        let from = b.add_f64("from", LcmToPointCloud::new());
        b.connect(to.lcmt_point_cloud, from.lcmt_point_cloud);
        let mut ctx = b.build().unwrap().default_context();
        ctx.set_time(1.5);
        let cloud = two_points(fields);
        ctx.fix(to.point_cloud, cloud.clone()).unwrap();
        let message = ctx.eval(to.lcmt_point_cloud).unwrap();
        assert_eq!(hex(&message.encode().unwrap()), expected);
        assert_eq!(*ctx.eval(from.point_cloud).unwrap(), cloud);
    }
}

fn field(name: &str, byte_offset: i32, datatype: i8) -> LcmtPointCloudField {
    LcmtPointCloudField {
        name: name.into(),
        byte_offset,
        datatype,
        count: 1,
    }
}

#[test]
fn layouts_of_other_programs_are_read() {
    // Two rows of two points: z as i16, x as f64, unknown bytes, y as f32, packed colours; with
    // gaps.
    let point = |i: u8, big: bool| {
        let (x, y, z) = (f64::from(i), f32::from(i) + 0.25, i16::from(i) - 2);
        let packed = u32::from_le_bytes([i, i + 1, i + 2, 0]);
        let mut bytes = vec![99];
        if big {
            bytes.extend(z.to_be_bytes());
            bytes.extend(x.to_be_bytes());
            bytes.extend([77; 3]);
            bytes.extend(y.to_be_bytes());
            bytes.extend(packed.to_be_bytes());
        } else {
            bytes.extend(z.to_le_bytes());
            bytes.extend(x.to_le_bytes());
            bytes.extend([77; 3]);
            bytes.extend(y.to_le_bytes());
            bytes.extend(packed.to_le_bytes());
        }
        bytes.push(99);
        bytes
    };
    for (big, rgb, datatype) in [(false, "rgb", 6), (true, "rgba", 7)] {
        let mut data = [point(0, big), point(1, big), vec![55; 5]].concat();
        data.extend([point(2, big), point(3, big)].concat());
        let message = LcmtPointCloud {
            width: 2,
            height: 2,
            fields: vec![
                field(rgb, 18, datatype),
                field("intensity", 11, 99),
                field("z", 1, LcmtPointCloudField::INT16),
                field("x", 3, LcmtPointCloudField::FLOAT64),
                field("y", 14, LcmtPointCloudField::FLOAT32),
            ],
            flags: if big { LcmtPointCloud::IS_BIGENDIAN } else { 0 },
            point_step: 23,
            row_step: 51,
            data: data.into(),
            ..Default::default()
        };
        let mut cloud = PointCloud::new(9, BaseField::NORMALS);
        decode_point_cloud(&message, &mut cloud).unwrap();
        assert_eq!(cloud.fields().to_string(), "xyzs, rgbs");
        for i in 0..4_u8 {
            let k = usize::from(i);
            let x = f32::from(i);
            assert_eq!(cloud.xyzs()[k], Vector3::new(x, x + 0.25, x - 2.0));
            assert_eq!(cloud.rgbs()[k], [i, i + 1, i + 2]);
        }
    }
    let message = LcmtPointCloud {
        width: 1,
        height: 1,
        fields: vec![
            field("r", 2, 2),
            field("g", 1, 2),
            field("b", 0, 2),
            field("nx", 3, 1),
            field("ny", 3, 1),
            field("nz", 3, 1),
        ],
        point_step: 4,
        data: vec![1, 2, 3, 255].into(),
        ..Default::default()
    };
    let mut cloud = PointCloud::default();
    decode_point_cloud(&message, &mut cloud).unwrap();
    assert_eq!(
        (cloud.rgbs()[0], cloud.normals()[0]),
        ([3, 2, 1], Vector3::repeat(-1.0))
    );
}

#[test]
fn invalid_messages_make_empty_clouds() {
    let mut good = LcmtPointCloud::default();
    encode_point_cloud(&two_points(BaseField::XYZS), "f", &mut good);
    let with = |change: fn(&mut LcmtPointCloud)| {
        let mut message = good.clone();
        change(&mut message);
        message
    };
    for (message, expected) in [
        (
            with(|m| m.width = 3),
            "row_step must be at least 3 points of 12 bytes, got 24",
        ),
        (with(|m| m.width = -1), "width must be at least 0, got -1"),
        (
            with(|m| m.height = 2),
            "2 x 2 points of 12 bytes are 48 bytes, but the message has 24",
        ),
        (with(|m| m.height = i64::MAX), "but the message has 24"),
        (
            with(|m| (m.width, m.height, m.row_step) = (i64::MAX, i64::MAX, 0)),
            "points of 12 bytes, got 0",
        ),
        (
            with(|m| m.row_step = -1),
            "row_step must be at least 0, got -1",
        ),
        (
            with(|m| m.point_step = -12),
            "point_step must be at least 0, got -12",
        ),
        (
            with(|m| m.point_step = 11),
            "'z' must lie within a point of 11 bytes, got 1 x 4 bytes at byte 8",
        ),
        (
            with(|m| (m.point_step, m.row_step, m.width) = (0, 0, 1 << 40)),
            "points of 0 bytes",
        ),
        (
            with(|m| (m.point_step, m.row_step, m.width, m.height) = (0, 0, i64::MAX, i64::MAX)),
            "points of 0 bytes",
        ),
        (
            with(|m| m.fields[1].byte_offset = -4),
            "'y' must lie within a point of 12 bytes, got 1 x 4 bytes at byte -4",
        ),
        (
            with(|m| m.fields[1].byte_offset = i32::MAX),
            "at byte 2147483647",
        ),
        (
            with(|m| m.fields[1].datatype = 9),
            "the datatype of 'y' must be from 1 to 8, got 9",
        ),
        (
            with(|m| m.fields[1].count = 0),
            "'y' must lie within a point of 12 bytes, got 0 x 4 bytes",
        ),
        (
            with(|m| m.fields[1].name = "w".into()),
            "none of the 3 fields is known",
        ),
        (with(|m| m.fields.clear()), "none of the 0 fields is known"),
        (
            with(|m| m.fields[0] = field("rgb", 0, 3)),
            "the field with colours must have a type of 32 bits, got I16",
        ),
        (with(|m| m.data.truncate(23)), "but the message has 23"),
    ] {
        let mut cloud = PointCloud::new(7, BaseField::XYZS);
        let error = decode_point_cloud(&message, &mut cloud)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("LCM point cloud: ") && error.contains(expected),
            "{error}"
        );
        assert_eq!(cloud.size(), 0);
    }
    let mut cloud = PointCloud::new(7, BaseField::XYZS);
    decode_point_cloud(&with(|m| (m.width, m.row_step) = (0, 0)), &mut cloud).unwrap();
    assert_eq!(cloud.size(), 0);
}

#[test]
fn messages_with_normals_that_are_not_finite_do_not_claim_to_be_strictly_finite() {
    let mut cloud = PointCloud::new(2, BaseField::XYZS | BaseField::NORMALS);
    for i in 0..2 {
        cloud.xyzs_mut()[i] = [1.0, 2.0, 3.0].into();
        cloud.normals_mut()[i] = [0.0, 0.0, 1.0].into();
    }
    let flags = |cloud: &PointCloud| {
        let mut message = LcmtPointCloud::default();
        encode_point_cloud(cloud, "", &mut message);
        message.flags
    };
    assert_eq!(flags(&cloud), LcmtPointCloud::IS_STRICTLY_FINITE);
    cloud.normals_mut()[1].x = f32::NAN;
    assert_eq!(flags(&cloud), 0);
}
