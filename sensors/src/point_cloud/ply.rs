//! The Polygon File Format (Greg Turk: The PLY Polygon File Format, 1994).

use super::PointCloud;
use super::table::{Column, Encoding, NumberType, PointCloudEncoding, Table};
use std::fmt::Write as _;

/// Returns the bytes of the file.
pub(super) fn write(cloud: &PointCloud, encoding: PointCloudEncoding) -> Vec<u8> {
    let format = match encoding {
        PointCloudEncoding::Ascii => "ascii",
        PointCloudEncoding::Binary => "binary_little_endian",
    };
    let mut header = format!(
        "ply\nformat {format} 1.0\nelement vertex {}\n",
        cloud.size()
    );
    let mut properties = |kind: &str, names: [&str; 3]| {
        for name in names {
            header += &format!("property {kind} {name}\n");
        }
    };
    properties("float", ["x", "y", "z"]);
    if cloud.has_normals() {
        properties("float", ["nx", "ny", "nz"]);
    }
    if cloud.has_rgbs() {
        properties("uchar", ["red", "green", "blue"]);
    }
    header += "end_header\n";
    match encoding {
        PointCloudEncoding::Ascii => {
            for i in 0..cloud.size() {
                let p = cloud.xyzs()[i];
                // Writing to a string cannot fail. The decimals are the shortest that read back to
                // the same bits.
                let _ = write!(header, "{} {} {}", p.x, p.y, p.z);
                if let Some(n) = cloud.normals().get(i) {
                    let _ = write!(header, " {} {} {}", n.x, n.y, n.z);
                }
                if let Some([r, g, b]) = cloud.rgbs().get(i) {
                    let _ = write!(header, " {r} {g} {b}");
                }
                header.push('\n');
            }
            header.into_bytes()
        }
        PointCloudEncoding::Binary => {
            let mut bytes = header.into_bytes();
            for i in 0..cloud.size() {
                let (xyz, normal) = (Some(&cloud.xyzs()[i]), cloud.normals().get(i));
                for x in xyz.into_iter().chain(normal).flat_map(|v| v.iter()) {
                    bytes.extend(x.to_le_bytes());
                }
                bytes.extend(cloud.rgbs().get(i).into_iter().flatten());
            }
            bytes
        }
    }
}

fn kind(name: &str) -> Option<NumberType> {
    Some(match name {
        "char" | "int8" => NumberType::I8,
        "uchar" | "uint8" => NumberType::U8,
        "short" | "int16" => NumberType::I16,
        "ushort" | "uint16" => NumberType::U16,
        "int" | "int32" => NumberType::I32,
        "uint" | "uint32" => NumberType::U32,
        "float" | "float32" => NumberType::F32,
        "double" | "float64" => NumberType::F64,
        _ => return None,
    })
}

/// Reads the vertices of a file, and ignores all that follows them.
pub(super) fn read(bytes: &[u8]) -> Result<PointCloud, String> {
    let mut rest = bytes;
    let mut number = 0;
    let mut encoding = None;
    let mut vertices: Option<(usize, Vec<Column>)> = None;
    let mut other_elements = false;
    loop {
        let end = rest.iter().position(|b| *b == b'\n');
        let end = end.ok_or("the header does not end; it must end with 'end_header'")?;
        let line = String::from_utf8_lossy(&rest[..end]);
        rest = &rest[end + 1..];
        number += 1;
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let fail = |expected: &str| {
            Err(format!(
                "line {number} must be {expected}, got '{}'",
                line.trim()
            ))
        };
        match *words {
            ["ply"] if number == 1 => {}
            _ if number == 1 => return fail("'ply'"),
            ["format", name, "1.0"] => {
                encoding = Some(match name {
                    "ascii" => Encoding::Ascii,
                    "binary_little_endian" => Encoding::LittleEndian,
                    "binary_big_endian" => Encoding::BigEndian,
                    _ => return fail("'format ascii|binary_little_endian|binary_big_endian 1.0'"),
                });
            }
            ["comment" | "obj_info", ..] | [] => {}
            ["element", "vertex", count] if vertices.is_none() && !other_elements => {
                let Ok(count) = count.parse() else {
                    return fail("'element vertex COUNT'");
                };
                vertices = Some((count, vec![]));
            }
            ["element", "vertex", ..] => {
                return fail("the only 'element vertex', before all other elements");
            }
            ["element", _, _] => other_elements = true,
            ["property", ..] if other_elements => {}
            ["property", kind_name, name] => {
                let (Some(kind), Some((_, columns))) = (kind(kind_name), &mut vertices) else {
                    return fail(
                        "'property TYPE NAME' of an element, with a type such as float or uchar",
                    );
                };
                columns.push(Column {
                    name: name.into(),
                    kind,
                    count: 1,
                });
            }
            ["end_header"] => break,
            _ => return fail("a line of a PLY header without lists of vertices"),
        }
    }
    let (rows, columns) = vertices.ok_or("there is no 'element vertex'")?;
    Table {
        columns,
        rows,
        body: rest,
        encoding: encoding.ok_or("there is no line 'format'")?,
    }
    .to_cloud()
}
