//! Radiance HDR images (G. Ward, "Real pixels", Graphics Gems II, 1991): colours with a common
//! exponent.

/// Maximum width and height. An image of this size takes a few gigabytes.
const MAX_SIDE: usize = 1 << 15;

/// Decoded image: linear colours with opacity 1.
#[derive(Debug)]
pub(crate) struct RadianceImage {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<[f32; 4]>,
}

/// Decodes the content of a file.
///
/// # Errors
/// Returns a description of what is invalid.
pub(crate) fn decode(bytes: &[u8]) -> Result<RadianceImage, String> {
    let mut rest = bytes;
    let mut line = || {
        let end = rest.iter().position(|b| *b == b'\n')?;
        let (line, after) = rest.split_at(end);
        rest = &after[1..];
        Some(String::from_utf8_lossy(line).trim().to_owned())
    };
    // The header ends with an empty line.
    loop {
        let line = line().ok_or("the header must end with an empty line")?;
        if line.is_empty() {
            break;
        }
        let format = line.strip_prefix("FORMAT=");
        if let Some(other) = format.filter(|f| *f != "32-bit_rle_rgbe") {
            return Err(format!("FORMAT must be 32-bit_rle_rgbe, got '{other}'"));
        }
    }
    let size = line().ok_or("the size must follow the header")?;
    let words: Vec<&str> = size.split_whitespace().collect();
    let number = |word: &str| {
        let n = word.parse::<usize>().ok()?;
        (1..=MAX_SIDE).contains(&n).then_some(n)
    };
    let (height, width) = match words[..] {
        ["-Y", y, "+X", x] => number(y).zip(number(x)),
        _ => None,
    }
    .ok_or_else(|| {
        let found: String = size.chars().take(40).collect();
        format!(
            "the size must be '-Y height +X width' with sides of 1 to {MAX_SIDE}, got '{found}'"
        )
    })?;
    let mut pixels = Vec::new();
    let mut row = vec![[0u8; 4]; width];
    for y in 0..height {
        rest =
            scan_line(rest, &mut row).ok_or_else(|| format!("row {y} is invalid or truncated"))?;
        pixels.extend(row.iter().map(|p| color(*p)));
    }
    Ok(RadianceImage {
        width,
        height,
        pixels,
    })
}

fn color([r, g, b, e]: [u8; 4]) -> [f32; 4] {
    let scale = if e == 0 {
        0.0
    } else {
        (f32::from(e) - 136.0).exp2()
    };
    [
        f32::from(r) * scale,
        f32::from(g) * scale,
        f32::from(b) * scale,
        1.0,
    ]
}

/// Decodes a row and returns the remaining bytes; `None` if the data are invalid.
fn scan_line<'a>(bytes: &'a [u8], row: &mut [[u8; 4]]) -> Option<&'a [u8]> {
    let width = row.len();
    let (&first, after) = bytes.split_first_chunk::<4>()?;
    let length = usize::from(first[2]) << 8 | usize::from(first[3]);
    if first[..2] != [2, 2] || length != width || !(8..MAX_SIDE).contains(&width) {
        return flat_line(bytes, row);
    }
    // The channels follow one after the other, each in runs.
    let mut rest = after;
    for channel in 0..4 {
        let mut x = 0;
        while x < width {
            let (&n, after) = rest.split_first()?;
            let count = usize::from(if n > 128 { n - 128 } else { n });
            let run = row.get_mut(x..x + count).filter(|run| !run.is_empty())?;
            if n > 128 {
                let (&value, after) = after.split_first()?;
                run.iter_mut().for_each(|p| p[channel] = value);
                rest = after;
            } else {
                let (values, after) = after.split_at_checked(count)?;
                run.iter_mut()
                    .zip(values)
                    .for_each(|(p, v)| p[channel] = *v);
                rest = after;
            }
            x += count;
        }
    }
    Some(rest)
}

/// Decodes a row pixel by pixel. (1, 1, 1, n) repeats the last pixel n times; directly following
/// repeats hold higher bytes of the count.
fn flat_line<'a>(bytes: &'a [u8], row: &mut [[u8; 4]]) -> Option<&'a [u8]> {
    let mut rest = bytes;
    let (mut x, mut shift) = (0, 0);
    while x < row.len() {
        let (&pixel, after) = rest.split_first_chunk::<4>()?;
        rest = after;
        if pixel[..3] == [1, 1, 1] {
            let count = usize::from(pixel[3]).checked_shl(shift)?;
            let last = *row.get(x.checked_sub(1)?)?;
            row.get_mut(x..x.checked_add(count)?)?.fill(last);
            x += count;
            shift += 8;
            if shift > 24 {
                return None;
            }
        } else {
            row[x] = pixel;
            x += 1;
            shift = 0;
        }
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(size: &str, data: &[u8]) -> Vec<u8> {
        let mut all = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\nEXPOSURE=1\n\n".to_vec();
        all.extend(size.as_bytes());
        all.push(b'\n');
        all.extend(data);
        all
    }

    #[test]
    fn flat_and_run_length_rows_are_decoded() {
        let flat = decode(&file(
            "-Y 1 +X 3",
            &[128, 64, 0, 129, 1, 1, 1, 1, 255, 255, 255, 0],
        ));
        let flat = flat.unwrap();
        assert_eq!((flat.width, flat.height), (3, 1));
        assert_eq!(flat.pixels[0], [1.0, 0.5, 0.0, 1.0]);
        assert_eq!(flat.pixels[1], flat.pixels[0]);
        assert_eq!(flat.pixels[2], [0.0, 0.0, 0.0, 1.0]);
        // Red in two runs, the other channels in one each.
        let mut data = vec![2, 2, 0, 9, 133, 10, 4, 1, 2, 3, 4];
        data.extend([137, 20, 137, 30, 137, 136]);
        let packed = decode(&file("-Y 1 +X 9", &data)).unwrap();
        let red: Vec<f32> = packed.pixels.iter().map(|p| p[0]).collect();
        assert_eq!(red, [10.0, 10.0, 10.0, 10.0, 10.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(packed.pixels[8][1..], [20.0, 30.0, 1.0]);
    }

    #[test]
    fn invalid_content_is_described() {
        let says = |bytes: &[u8], what: &str| {
            let e = decode(bytes).unwrap_err();
            assert!(e.contains(what), "{e}");
        };
        says(b"#?RADIANCE\n", "the header must end");
        says(b"#?R\nFORMAT=32-bit_rle_xyze\n\n", "'32-bit_rle_xyze'");
        says(&file("-Y 1 +X 0", &[]), "'-Y 1 +X 0'");
        says(&file("-Y 2 +X 1", &[1, 2, 3, 4]), "row 1 is invalid");
        says(
            &file("-Y 1 +X 2", &[1, 1, 1, 4, 0, 0, 0, 0]),
            "row 0 is invalid",
        );
        says(&file("-Y 1 +X 8", &[2, 2, 0, 8, 0]), "row 0 is invalid");
        for cut in 0..70 {
            let mut whole = file("-Y 1 +X 8", &[2, 2, 0, 8, 136, 1, 136, 1, 136, 1, 136, 1]);
            whole.truncate(cut);
            let _ = decode(&whole); // must not panic
        }
    }
}
