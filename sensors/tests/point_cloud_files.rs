//! Point cloud files: round trips and errors.

use nalgebra::Vector3;
use proptest::prelude::*;
use tarragon_sensors::*;

type V = Vector3<f32>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn files_preserve_every_bit(
        xyz in prop::collection::vec(any::<[f32; 3]>(), 0..20),
        rgb in any::<[u8; 3]>(),
        normals in any::<bool>(),
        colors in any::<bool>(),
    ) {
        let mut fields = BaseField::XYZS;
        if normals { fields = fields | BaseField::NORMALS; }
        if colors { fields = fields | BaseField::RGBS; }
        let mut cloud = PointCloud::new(xyz.len(), fields);
        cloud.xyzs_mut().iter_mut().zip(&xyz).for_each(|(to, p)| *to = V::from(*p));
        cloud.normals_mut().iter_mut().zip(&xyz).for_each(|(to, p)| *to = V::from([p[2], p[1], p[0]]));
        cloud.rgbs_mut().fill(rgb);
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.ply", "a.pcd"] {
            for encoding in [PointCloudEncoding::Ascii, PointCloudEncoding::Binary] {
                let path = folder.path().join(name);
                save_point_cloud(&cloud, &path, encoding).unwrap();
                let back = load_point_cloud(&path).unwrap();
                let bits = |v: &[V]| v.iter().flat_map(|v| [v.x, v.y, v.z]).map(|x| if x.is_nan() { 0 } else { x.to_bits() }).collect::<Vec<_>>();
                prop_assert_eq!(bits(back.xyzs()), bits(cloud.xyzs()));
                prop_assert_eq!(bits(back.normals()), bits(cloud.normals()));
                prop_assert_eq!(back.rgbs(), cloud.rgbs());
                prop_assert_eq!(back.fields(), cloud.fields());
            }
        }
    }

    /// Damaged files cause errors or give other clouds, never panics.
    #[test]
    fn damaged_files_do_not_panic(at in 0..400_usize, byte in any::<u8>(), cut in 0..400_usize, binary in any::<bool>()) {
        let mut cloud = PointCloud::new(5, BaseField::XYZS | BaseField::RGBS | BaseField::NORMALS);
        cloud.xyzs_mut().fill(V::new(1.5, -2.0, 1e10));
        let folder = tempfile::tempdir().unwrap();
        let encoding = if binary { PointCloudEncoding::Binary } else { PointCloudEncoding::Ascii };
        for (name, format) in [("a.ply", PointCloudFileFormat::Ply), ("a.pcd", PointCloudFileFormat::Pcd)] {
            let path = folder.path().join(name);
            save_point_cloud(&cloud, &path, encoding).unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            let _ = parse_point_cloud(&bytes[..cut.min(bytes.len())], format);
            if let Some(b) = bytes.get_mut(at) { *b = byte; }
            if let Ok(found) = parse_point_cloud(&bytes, format) {
                prop_assert!(found.size() <= bytes.len());
            }
        }
    }
}

#[test]
fn files_of_other_programs_are_read() {
    // A big-endian file with doubles before the position, a comment, and faces after the vertices.
    let mut bytes = b"ply\nformat binary_big_endian 1.0\ncomment made by hand\nelement vertex 1\nproperty double w\n\
        property float x\nproperty short y\nproperty uchar z\nelement face 1\nproperty list uchar int vertex_indices\n\
        end_header\n"
        .to_vec();
    bytes.extend(9.5_f64.to_be_bytes());
    bytes.extend(1.25_f32.to_be_bytes());
    bytes.extend((-300_i16).to_be_bytes());
    bytes.push(200);
    bytes.extend([3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let cloud = parse_point_cloud(&bytes, PointCloudFileFormat::Ply).unwrap();
    assert_eq!(cloud.xyzs()[0], V::new(1.25, -300.0, 200.0));
    // PCL writes colours as the bits of a float.
    let rgb = f32::from_bits(0x00_ff_80_01);
    let text = format!(
        "# comment\nVERSION .7\nFIELDS x y z _ rgb\nSIZE 4 4 4 1 4\nTYPE F F F U F\nCOUNT 1 1 1 2 \
         1\nWIDTH 1\nHEIGHT 1\n\
         POINTS 1\nDATA ascii\n1 2 nan 8 8 {rgb:e}\n"
    );
    let cloud = parse_point_cloud(text.as_bytes(), PointCloudFileFormat::Pcd).unwrap();
    assert_eq!(cloud.rgbs(), [[255, 128, 1]]);
    assert!(cloud.xyzs()[0].y == 2.0 && cloud.xyzs()[0].z.is_nan());
}

#[test]
fn errors_in_files_are_explained() {
    let ply = |text: &str| {
        parse_point_cloud(text.as_bytes(), PointCloudFileFormat::Ply)
            .unwrap_err()
            .to_string()
    };
    let head = "ply\nformat ascii 1.0\nelement vertex 2\n";
    let xyz = "property float x\nproperty float y\nproperty float z\nend_header\n";
    for (text, expected) in [
        ("".into(), "the header does not end"),
        ("plx\n".into(), "line 1 must be 'ply', got 'plx'"),
        (
            format!("{head}property quad x\n"),
            "or uchar, got 'property quad x'",
        ),
        (
            format!("{head}property list uchar int x\n"),
            "without lists of vertices",
        ),
        (
            format!("{head}property float x\nend_header\n1 2"),
            "the points must have x, y and z, got [x]",
        ),
        (
            format!("{head}{xyz}1 2 3 4"),
            "the file ends at point 1 of 2",
        ),
        (
            format!("{head}{xyz}1 2 3 4 x 6"),
            "point 1 must consist of numbers, got 'x'",
        ),
        (
            format!("ply\nformat ascii 1.0\nelement vertex 99999999999\n{xyz}1 2 3"),
            "promises 99999999999 points",
        ),
        (format!("ply\nelement vertex 0\n{xyz}"), "no line 'format'"),
    ] {
        let message = ply(&text);
        assert!(message.contains(expected), "{text:?}: {message}");
    }
    let pcd = |text: &str| {
        parse_point_cloud(text.as_bytes(), PointCloudFileFormat::Pcd)
            .unwrap_err()
            .to_string()
    };
    for (text, expected) in [
        (
            "FIELDS x y z\nSIZE 4 4\nTYPE F F F\nPOINTS 0\nDATA ascii\n",
            "must have equally many values, got 3, 2, 3 and 3",
        ),
        (
            "FIELDS x y z\nSIZE 4 4 3\nTYPE F F F\nPOINTS 0\nDATA ascii\n",
            "got TYPE F, SIZE 3",
        ),
        ("FIELDS x\nSIZE 4\nTYPE F\nDATA ascii\n", "no line 'POINTS'"),
        (
            "DATA binary_compressed\n",
            "compressed files are not supported",
        ),
        (
            "HELLO\n",
            "line 1 must be a line of a PCD header, got 'HELLO'",
        ),
    ] {
        let message = pcd(text);
        assert!(message.contains(expected), "{text:?}: {message}");
    }
    let folder = tempfile::tempdir().unwrap();
    let save = |cloud: &PointCloud, name: &str| {
        let path = folder.path().join(name);
        save_point_cloud(cloud, path, PointCloudEncoding::Binary)
            .unwrap_err()
            .to_string()
    };
    assert!(save(&PointCloud::default(), "a.ply").contains(
        "a.ply: PointCloud::save: the cloud must have positions (BaseField::XYZS), got no fields"
    ));
    assert!(save(&PointCloud::new(0, BaseField::XYZS), "a.xyz").contains(".ply or .pcd"));
    assert!(save(&PointCloud::new(0, BaseField::XYZS), "no/such/a.ply").contains("no/such/a.ply"));
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "no partial file is left"
    );
    std::fs::write(folder.path().join("b.ply"), "x\n").unwrap();
    let message = load_point_cloud(folder.path().join("b.ply"))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("b.ply: line 1 must be 'ply', got 'x'"),
        "{message}"
    );
}
