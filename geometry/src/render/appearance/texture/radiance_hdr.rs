//! Radiance HDR images (G. Ward, "Real pixels", Graphics Gems II, 1991): colours with a common
//! exponent.

use super::size::check_size;

/// Maximum width and height.
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
    check_size(width, height)?;
    // Reserves no more than the bytes can hold: in runs, two bytes are at most 127 values.
    let room = (width * height).min(rest.len().saturating_mul(16));
    let mut pixels = Vec::with_capacity(room);
    let mut planes = vec![0; 4 * width];
    let mut row = vec![[0; 4]; width];
    let scales = scales();
    for y in 0..height {
        let line = match run_length_data(rest, width) {
            Some(runs) => run_length_line(runs, &mut planes, width).inspect(|_| {
                let mut planes = planes.chunks_exact(width);
                let [r, g, b, e] = [(); 4].map(|()| planes.next().unwrap_or_default());
                let of_row = r.iter().zip(g).zip(b).zip(e);
                pixels.extend(of_row.map(|(((r, g), b), e)| color([*r, *g, *b, *e], &scales)));
            }),
            None => flat_line(rest, &mut row).inspect(|_| {
                pixels.extend(row.iter().map(|pixel| color(*pixel, &scales)));
            }),
        };
        rest = line.ok_or_else(|| format!("row {y} is invalid or truncated"))?;
    }
    Ok(RadianceImage {
        width,
        height,
        pixels,
    })
}

/// Returns the value of one step of a channel, by exponent. Exponent 0 is black.
fn scales() -> [f32; 256] {
    let mut scales = [0.0; 256];
    for (e, scale) in (0..).zip(&mut scales).skip(1) {
        *scale = f32::exp2(e as f32 - 136.0);
    }
    scales
}

fn color([r, g, b, e]: [u8; 4], scales: &[f32; 256]) -> [f32; 4] {
    let scale = scales[usize::from(e)];
    [
        f32::from(r) * scale,
        f32::from(g) * scale,
        f32::from(b) * scale,
        1.0,
    ]
}

/// Returns the bytes after the marker of a row in runs; `None` if the row is flat.
fn run_length_data(bytes: &[u8], width: usize) -> Option<&[u8]> {
    let (&[a, b, high, low], after) = bytes.split_first_chunk::<4>()?;
    let length = usize::from(high) << 8 | usize::from(low);
    let is_packed = [a, b] == [2, 2] && length == width && (8..MAX_SIDE).contains(&width);
    is_packed.then_some(after)
}

/// Decodes a row whose channels follow one after the other, each in runs, into `planes` of `width`
/// values each. Returns the remaining bytes; `None` if the data are invalid.
fn run_length_line<'a>(bytes: &'a [u8], planes: &mut [u8], width: usize) -> Option<&'a [u8]> {
    let mut rest = bytes;
    for plane in planes.chunks_exact_mut(width) {
        let mut x = 0;
        while x < width {
            let (&n, after) = rest.split_first()?;
            let count = usize::from(if n > 128 { n - 128 } else { n });
            let run = plane.get_mut(x..x + count).filter(|run| !run.is_empty())?;
            if n > 128 {
                let (&value, after) = after.split_first()?;
                run.fill(value);
                rest = after;
            } else {
                let (values, after) = after.split_at_checked(count)?;
                run.copy_from_slice(values);
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
        says(
            &file("-Y 32768 +X 32768", &[]),
            "the image must have 1 to 268435456 pixels, got 32768 x 32768",
        );
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
