//! The file format of the Point Cloud Library, version 0.7
//! (<https://pointclouds.org/documentation/tutorials/pcd_file_format.html>).

use super::PointCloud;
use super::table::{Column, Encoding, NumberType, PointCloudEncoding, Table};
use std::fmt::Write as _;

/// Returns red, green and blue packed in one number.
fn packed([r, g, b]: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, r, g, b])
}

/// Returns the bytes of the file.
pub(super) fn write(cloud: &PointCloud, encoding: PointCloudEncoding) -> Vec<u8> {
    let mut fields = vec!["x", "y", "z"];
    if cloud.has_normals() {
        fields.extend(["normal_x", "normal_y", "normal_z"]);
    }
    let floats = fields.len();
    if cloud.has_rgbs() {
        fields.push("rgb");
    }
    let each = |value: &str| vec![value; fields.len()].join(" ");
    let mut types = vec!["F"; floats];
    types.resize(fields.len(), "U");
    let data = match encoding {
        PointCloudEncoding::Ascii => "ascii",
        PointCloudEncoding::Binary => "binary",
    };
    let mut header = format!(
        "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS {}\nSIZE {}\nTYPE {}\nCOUNT {}\n\
         WIDTH {n}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {n}\nDATA {data}\n",
        fields.join(" "),
        each("4"),
        types.join(" "),
        each("1"),
        n = cloud.size(),
    );
    let rgb = |i: usize| cloud.rgbs().get(i).copied().map(packed);
    let numbers = |i: usize| {
        let normal = cloud.normals().get(i);
        [&cloud.xyzs()[i]]
            .into_iter()
            .chain(normal)
            .flat_map(|v| v.iter())
    };
    match encoding {
        PointCloudEncoding::Ascii => {
            for i in 0..cloud.size() {
                let before = header.len();
                for x in numbers(i) {
                    let separator = if header.len() == before { "" } else { " " };
                    // Writing to a string cannot fail.
                    let _ = write!(header, "{separator}{x}");
                }
                if let Some(rgb) = rgb(i) {
                    let _ = write!(header, " {rgb}");
                }
                header.push('\n');
            }
            header.into_bytes()
        }
        PointCloudEncoding::Binary => {
            let mut bytes = header.into_bytes();
            for i in 0..cloud.size() {
                for x in numbers(i) {
                    bytes.extend(x.to_le_bytes());
                }
                bytes.extend(rgb(i).into_iter().flat_map(u32::to_le_bytes));
            }
            bytes
        }
    }
}

fn kind(letter: &str, size: &str) -> Option<NumberType> {
    Some(match (letter, size) {
        ("I", "1") => NumberType::I8,
        ("U", "1") => NumberType::U8,
        ("I", "2") => NumberType::I16,
        ("U", "2") => NumberType::U16,
        ("I", "4") => NumberType::I32,
        ("U", "4") => NumberType::U32,
        ("F", "4") => NumberType::F32,
        ("F", "8") => NumberType::F64,
        _ => return None,
    })
}

/// Reads the points of a file.
pub(super) fn read(bytes: &[u8]) -> Result<PointCloud, String> {
    let mut rest = bytes;
    let mut number = 0;
    let [mut fields, mut sizes, mut types, mut counts] = [const { Vec::<String>::new() }; 4];
    let mut points: Option<usize> = None;
    let encoding = loop {
        let end = rest.iter().position(|b| *b == b'\n');
        let end = end.ok_or("the header does not end; it must end with a line 'DATA'")?;
        let line = String::from_utf8_lossy(&rest[..end]);
        rest = &rest[end + 1..];
        number += 1;
        let fail = |expected: &str| {
            Err(format!(
                "line {number} must be {expected}, got '{}'",
                line.trim()
            ))
        };
        let mut words = line.split_ascii_whitespace();
        let key = words.next();
        let values: Vec<String> = words.map(String::from).collect();
        match key {
            None => {}
            Some(comment) if comment.starts_with('#') => {}
            Some("VERSION" | "VIEWPOINT" | "WIDTH" | "HEIGHT") => {}
            Some("FIELDS") => fields = values,
            Some("SIZE") => sizes = values,
            Some("TYPE") => types = values,
            Some("COUNT") => counts = values,
            Some("POINTS") => {
                points = values.first().and_then(|n| n.parse().ok());
                if points.is_none() {
                    return fail("'POINTS COUNT'");
                }
            }
            Some("DATA") => match values.first().map(String::as_str) {
                Some("ascii") => break Encoding::Ascii,
                Some("binary") => break Encoding::LittleEndian,
                _ => {
                    return fail(
                        "'DATA ascii' or 'DATA binary' (compressed files are not supported)",
                    );
                }
            },
            Some(_) => return fail("a line of a PCD header"),
        }
    };
    if counts.is_empty() {
        counts = vec!["1".into(); fields.len()];
    }
    if [&sizes, &types, &counts]
        .iter()
        .any(|list| list.len() != fields.len())
    {
        return Err(format!(
            "FIELDS, SIZE, TYPE and COUNT must have equally many values, got {}, {}, {} and {}",
            fields.len(),
            sizes.len(),
            types.len(),
            counts.len()
        ));
    }
    let mut columns = vec![];
    for (i, name) in fields.into_iter().enumerate() {
        let (size, letter, count) = (&sizes[i], &types[i], &counts[i]);
        let (Some(kind), Some(count)) = (
            kind(letter, size),
            count.parse().ok().filter(|n| (1..1 << 16).contains(n)),
        ) else {
            return Err(format!(
                "field '{name}' must have TYPE I or U with SIZE 1, 2 or 4, or TYPE F with SIZE 4 \
                 or 8, and COUNT from 1 to 65535, got TYPE {letter}, SIZE {size} and COUNT {count}"
            ));
        };
        columns.push(Column { name, kind, count });
    }
    Table {
        columns,
        rows: points.ok_or("there is no line 'POINTS'")?,
        body: rest,
        encoding,
    }
    .to_cloud()
}
