use super::*;
use proptest::prelude::*;

const POINTS: [[f64; 3]; 5] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 0.25],
    [0.0, 0.0, -1.5],
];
const CELLS: [[i32; 4]; 2] = [[0, 1, 2, 3], [0, 2, 1, 4]];

fn read(bytes: &[u8]) -> Result<VolumeMesh> {
    parse_vtk(Path::new("x.vtk"), bytes)
}

fn ascii() -> String {
    let mut s =
        "# vtk DataFile Version 3.0\na title\nASCII\nDATASET UNSTRUCTURED_GRID\n".to_owned();
    s += "POINTS 5 double\n";
    for p in POINTS {
        s += &format!("{} {} {}\n", p[0], p[1], p[2]);
    }
    s += "\nCELLS 2 10\n";
    for c in CELLS {
        s += &format!("4 {} {} {} {}\n", c[0], c[1], c[2], c[3]);
    }
    s + "\nCELL_TYPES 2\n10\n10\n"
}

/// Creates a binary file of version 4, with coordinates of type `float` or `double`.
fn binary(kind: &str) -> Vec<u8> {
    let mut b =
        b"# vtk DataFile Version 4.2\n\xff not UTF-8\nBINARY\nDATASET UNSTRUCTURED_GRID\n".to_vec();
    b.extend(b"FIELD FieldData 1\nTIME 1 1 double\n");
    b.extend(0.5f64.to_be_bytes());
    b.extend(format!("\nPOINTS 5 {kind}\n").bytes());
    for x in POINTS.as_flattened() {
        match kind {
            "float" => b.extend((*x as f32).to_be_bytes()),
            _ => b.extend(x.to_be_bytes()),
        }
    }
    b.extend(b"\nCELLS 2 10\n");
    for c in CELLS {
        b.extend(4i32.to_be_bytes());
        c.iter().for_each(|v| b.extend(v.to_be_bytes()));
    }
    b.extend(b"\nCELL_TYPES 2\n");
    b.extend(10i32.to_be_bytes().repeat(2));
    b.extend(b"\nPOINT_DATA 5\nSCALARS anything\n");
    b
}

/// Creates a file of version 5.1, in which cells are stored as offsets and connectivity.
fn version_5(is_binary: bool) -> Vec<u8> {
    let format = if is_binary { "BINARY" } else { "ASCII" };
    let mut b =
        format!("# vtk DataFile Version 5.1\n\n{format}\nDATASET UNSTRUCTURED_GRID\n").into_bytes();
    let put = |b: &mut Vec<u8>, values: &[i64]| {
        for v in values {
            if is_binary {
                b.extend(v.to_be_bytes());
            } else {
                b.extend(format!("{v} ").bytes());
            }
        }
        b.push(b'\n');
    };
    b.extend(b"POINTS 5 vtktypeint64\n");
    // Integer coordinates only: 0.25 becomes 0.
    put(
        &mut b,
        &POINTS
            .as_flattened()
            .iter()
            .map(|x| *x as i64)
            .collect::<Vec<_>>(),
    );
    b.extend(b"METADATA\nINFORMATION 0\n\nCELLS 3 8\nOFFSETS vtktypeint64\n");
    put(&mut b, &[0, 4, 8]);
    b.extend(b"CONNECTIVITY vtktypeint64\n");
    put(
        &mut b,
        &CELLS
            .as_flattened()
            .iter()
            .map(|v| i64::from(*v))
            .collect::<Vec<_>>(),
    );
    b.extend(b"CELL_TYPES 2\n");
    if is_binary {
        b.extend(10i32.to_be_bytes().repeat(2));
    } else {
        b.extend(b"10 10");
    }
    b
}

#[test]
fn all_versions_and_formats_give_the_same_mesh() {
    let mesh = read(ascii().as_bytes()).unwrap();
    let points = POINTS.map(Vector3::from).to_vec();
    assert_eq!(
        mesh,
        VolumeMesh::new(CELLS.map(|c| c.map(|v| v as u32)), points).unwrap()
    );
    assert!((mesh.calc_volume() - 1.75 / 6.0).abs() < 1e-16);
    assert_eq!(read(&binary("double")).unwrap(), mesh);
    assert_eq!(read(&binary("float")).unwrap(), mesh);
    assert_eq!(
        read(ascii().replace('\n', "\r\n").as_bytes()).unwrap(),
        mesh
    );
    let whole = read(&version_5(false)).unwrap();
    assert_eq!(whole.tetrahedra(), mesh.tetrahedra());
    assert_eq!(whole.vertices()[4], Vector3::new(0.0, 0.0, -1.0));
    assert_eq!(read(&version_5(true)).unwrap(), whole);
}

#[test]
fn errors_name_the_place() {
    let text = ascii();
    let cases = [
        (
            "# vtk DataFile Version 3.0",
            "# vtk DataFile Version 6.0",
            "x.vtk:1: the file must begin with '# vtk DataFile Version ' and a version up to 5.1, got '# vtk DataFile Version 6.0'",
        ),
        (
            "ASCII",
            "TEXT",
            "x.vtk:3: the keyword must be ASCII or BINARY, got 'TEXT'",
        ),
        (
            "UNSTRUCTURED_GRID",
            "POLYDATA",
            "x.vtk:4: the keyword must be UNSTRUCTURED_GRID, got 'POLYDATA'",
        ),
        (
            "POINTS 5",
            "POINTS -5",
            "x.vtk:5: the number of points must be a whole number that fits the 172 bytes of the file, got '-5'",
        ),
        (
            "POINTS 5",
            "POINTS 99999999999",
            "x.vtk:5: the number of points must be a whole number that fits the 181 bytes of the file, got '99999999999'",
        ),
        (
            "5 double",
            "5 string",
            "x.vtk:5: the number type must be double, float or an integer type, got 'string'",
        ),
        (
            "0.25",
            "x",
            "x.vtk:9: a coordinate must be a finite number, got 'x'",
        ),
        (
            "0.25",
            "nan",
            "x.vtk:9: a coordinate must be a finite number, got 'nan'",
        ),
        (
            "POINTS 5",
            "POINTS 4",
            "x.vtk:10: the keyword must be POINTS, CELLS, CELL_TYPES, FIELD, METADATA, POINT_DATA or CELL_DATA, got '0'",
        ),
        (
            "4 0 1 2 3",
            "4 0 1 2 7",
            "x.vtk: vertex indices of cell 0 must be from 0 to below the number of points, 5, got 7",
        ),
        (
            "4 0 1 2 3",
            "8 0 1 2 3",
            "x.vtk:14: cell 1 has 4 vertices, but CELLS has only 0 numbers left",
        ),
        (
            "4 0 1 2 3",
            "14 0 1 2 3",
            "x.vtk:14: cell 0 has 14 vertices, but CELLS has only 9 numbers left",
        ),
        (
            "10\n10\n",
            "10\n5\n",
            "x.vtk: cell 1 must be a tetrahedron (type 10, 4 vertices), got type 5 and 4 vertices",
        ),
        (
            "CELL_TYPES 2\n10\n10\n",
            "CELL_TYPES 1\n10\n",
            "x.vtk: there must be as many cell types as cells, 2, got 1",
        ),
        (
            "CELL_TYPES 2\n10\n10\n",
            "",
            "x.vtk:16: the file must have a section CELL_TYPES",
        ),
        (
            "CELL_TYPES 2\n10\n10\n",
            "CELLS 0 0",
            "x.vtk:16: there must be only one section CELLS, got another",
        ),
    ];
    for (from, to, expected) in cases {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        let e = read(changed.as_bytes()).unwrap_err().to_string();
        assert!(e.contains(expected), "{to:?}: {e}");
    }
    let whole = binary("double");
    let cut = |n: usize| read(&whole[..n]).unwrap_err().to_string();
    let start = whole.windows(6).position(|w| w == b"POINTS").unwrap() + 16;
    let e = cut(start + 100);
    assert!(
        e.contains(&format!(
            "x.vtk: byte {start}: the data must have 120 bytes, got 100 before"
        )),
        "{e}"
    );
    let mut bad = whole.clone();
    bad[start + 16..start + 24].copy_from_slice(&f64::NAN.to_be_bytes());
    let e = read(&bad).unwrap_err().to_string();
    assert!(
        e.contains(&format!(
            "x.vtk: byte {}: a coordinate must be a finite number, got NaN",
            start + 16
        )),
        "{e}"
    );
    let text = String::from_utf8(version_5(false)).unwrap();
    let e = read(text.replace("0 4 8", "0 9 8").as_bytes())
        .unwrap_err()
        .to_string();
    assert!(
        e.contains("the offsets of CELLS must ascend within the 8 numbers"),
        "{e}"
    );
}

proptest! {
    /// Damaged files give a mesh or an error, never a panic.
    #[test]
    fn damaged_files_do_not_panic(form in 0..4, changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), end: prop::sample::Index) {
        let mut bytes = match form {
            0 => ascii().into_bytes(),
            1 => binary("float"),
            2 => version_5(false),
            _ => version_5(true),
        };
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = read(&bytes);
        bytes.truncate(end.index(bytes.len() + 1));
        let _ = read(&bytes);
    }
}
