//! Image files: round trips, errors, and exchange with other programs.

mod metadata;

use proptest::prelude::*;
use std::fs;
use std::path::Path;
use tarragon_sensors::*;

const FORMATS: [ImageFileFormat; 3] = [
    ImageFileFormat::Jpeg,
    ImageFileFormat::Png,
    ImageFileFormat::Tiff,
];

fn gradient<P: PixelType>(
    width: usize,
    height: usize,
    f: impl Fn(usize) -> P::Channel,
) -> Image<P> {
    Image::from_data(
        width,
        height,
        (0..width * height * P::CHANNELS).map(f).collect(),
    )
    .unwrap()
}

/// Returns one image of every pixel type.
fn images() -> Vec<ImageAny> {
    let byte = |i: usize| (i * 3) as u8;
    vec![
        gradient::<Rgba8U>(40, 30, byte).into(),
        gradient::<Rgb8U>(40, 30, byte).into(),
        gradient::<Bgra8U>(40, 30, byte).into(),
        gradient::<Bgr8U>(40, 30, byte).into(),
        gradient::<Grey8U>(40, 30, byte).into(),
        gradient::<Depth16U>(40, 30, |i| (i * 77) as u16).into(),
        gradient::<Label16I>(40, 30, |i| (i * 27) as i16).into(),
        gradient::<Depth32F>(40, 30, |i| {
            if i % 7 == 0 {
                f32::INFINITY
            } else {
                i as f32 * 0.01
            }
        })
        .into(),
    ]
}

fn message<V: std::fmt::Debug>(result: Result<V>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn pixels_that_a_format_cannot_hold_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let io = ImageIo::new();
    for image in images() {
        for format in FORMATS {
            let path = folder.path().join("a").with_extension(format.extension());
            let result = io.save(&image, &path);
            if format.can_hold(image.as_ref().scalar()) {
                result.unwrap();
                fs::remove_file(&path).unwrap();
            } else {
                let expected = format!(
                    "{format} cannot hold {} pixels; use .tiff",
                    image.pixel_type()
                );
                assert!(message(result).contains(&expected));
            }
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn images_load_in_the_requested_channel_order() {
    let io = ImageIo::new();
    let bgra = gradient::<Bgra8U>(5, 4, |i| i as u8);
    let rgb = gradient::<Rgb8U>(5, 4, |i| i as u8);
    for format in [ImageFileFormat::Png, ImageFileFormat::Tiff] {
        let file = io.save_to_buffer(&bgra, format).unwrap();
        assert_eq!(io.load_from_buffer_as::<Bgra8U>(&file).unwrap(), bgra);
        assert_eq!(
            io.load_from_buffer_as::<Rgba8U>(&file).unwrap(),
            (&bgra).into()
        );
        // Dropping the opacity would lose data.
        let refused = message(io.load_from_buffer_as::<Rgb8U>(&file));
        assert_eq!(
            refused,
            "image buffer: the file must hold Rgb8U, got Rgba8U"
        );
        let file = io.save_to_buffer(&rgb, format).unwrap();
        assert_eq!(
            io.load_from_buffer_as::<Bgr8U>(&file).unwrap(),
            (&rgb).into()
        );
        assert_eq!(
            io.load_from_buffer_as::<Rgba8U>(&file).unwrap(),
            (&rgb).into()
        );
        assert_eq!(
            io.load_from_buffer_as::<Bgra8U>(&file).unwrap(),
            (&rgb).into()
        );
    }
    // As in Drake, labels load as depths unless labels are requested.
    let label = gradient::<Label16I>(5, 4, |i| i as i16 - 3);
    for format in [ImageFileFormat::Png, ImageFileFormat::Tiff] {
        let file = io.save_to_buffer(&label, format).unwrap();
        assert!(matches!(
            io.load_from_buffer(&file).unwrap(),
            ImageAny::Depth16U(_)
        ));
        assert_eq!(io.load_from_buffer_as::<Label16I>(&file).unwrap(), label);
    }
}

#[test]
fn jpeg_errors_are_small() {
    let io = ImageIo::new();
    // Smooth, as rendered images are; quality 95 quantises low frequencies by at most 2.
    let smooth = gradient::<Rgba8U>(64, 48, |i| match i % 4 {
        3 => 255,
        c => (40 * c + i / 256 + (i / 4) % 64) as u8,
    });
    let file = io.save_to_buffer(&smooth, ImageFileFormat::Jpeg).unwrap();
    let read = io.load_from_buffer_as::<Rgba8U>(&file).unwrap();
    let worst = smooth
        .data()
        .iter()
        .zip(read.data())
        .map(|(a, b)| a.abs_diff(*b))
        .max();
    assert!(worst <= Some(6), "{worst:?}");
    let small = io.with_jpeg_quality(10).unwrap();
    let small = small
        .save_to_buffer(&smooth, ImageFileFormat::Jpeg)
        .unwrap();
    assert!(small.len() < file.len());
    assert!(message(io.with_jpeg_quality(0)).contains("must be from 1 to 100, got 0"));
    let grey = ImageGrey8U::with_value(9, 7, 100);
    let file = io.save_to_buffer(&grey, ImageFileFormat::Jpeg).unwrap();
    assert_eq!(io.load_from_buffer_as::<Grey8U>(&file).unwrap(), grey);
}

#[test]
fn the_content_determines_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lies.tiff");
    let image = ImageRgb8U::with_value(3, 2, 5);
    ImageIo::new()
        .with_format(ImageFileFormat::Png)
        .save(&image, &path)
        .unwrap();
    let io = ImageIo::new();
    assert_eq!(
        io.load_metadata(&path).unwrap().unwrap().format,
        ImageFileFormat::Png
    );
    assert_eq!(io.load_as::<Rgb8U>(&path).unwrap(), image);
    let strict = io.with_format(ImageFileFormat::Tiff);
    assert!(message(strict.load(&path)).contains("lies.tiff: the file must be TIFF, got PNG"));
    fs::write(&path, "GIF89a and more").unwrap();
    assert!(message(io.load(&path)).contains("must be PNG, JPEG or TIFF, got an unknown format"));
    fs::write(&path, "version https://git-lfs.github.com/spec/v1\n").unwrap();
    assert!(message(io.load(&path)).contains("got a Git LFS pointer; fetch the file with"));
    fs::write(&path, "").unwrap();
    assert!(message(io.load(&path)).contains("got an empty file"));
    assert!(message(io.load(folder.path())).contains("got a directory"));
    assert!(message(io.load(folder.path().join("no.png"))).contains("no.png: No such file"));
    if Path::new("/dev/zero").exists() {
        assert!(message(io.load("/dev/zero")).contains("got an unknown format"));
    }
}

/// The checksum of PNG chunks: polynomial division, bit by bit (PNG, annex D).
fn crc(bytes: &[u8]) -> [u8; 4] {
    let mut crc = !0_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    (!crc).to_be_bytes()
}

/// Returns the PNG file with another size in its header.
fn with_png_size(file: &[u8], width: u32, height: u32) -> Vec<u8> {
    let mut file = file.to_vec();
    file[16..20].copy_from_slice(&width.to_be_bytes());
    file[20..24].copy_from_slice(&height.to_be_bytes());
    let crc = crc(&file[12..29]);
    file[29..33].copy_from_slice(&crc);
    file
}

#[test]
fn palettes_are_checked() {
    let io = ImageIo::new();
    let grey = ImageGrey8U::from_data(2, 1, vec![0, 1]).unwrap();
    let grey = io.save_to_buffer(&grey, ImageFileFormat::Png).unwrap();
    let with_palette = |palette: &[u8]| {
        let mut file = grey[..33].to_vec();
        file[25] = 3; // indices into a palette
        let header = crc(&file[12..29]);
        file[29..33].copy_from_slice(&header);
        file.extend((palette.len() as u32).to_be_bytes());
        let chunk = [b"PLTE", palette].concat();
        file.extend(&chunk);
        file.extend(crc(&chunk));
        file.extend(&grey[33..]);
        file
    };
    let image = io.load_from_buffer_as::<Rgb8U>(&with_palette(&[1, 2, 3, 4, 5, 6]));
    assert_eq!(image.unwrap().data(), [1, 2, 3, 4, 5, 6]);
    for palette in [&[][..], &[7], &[1, 2, 3, 4], &[0; 771]] {
        let text = message(io.load_from_buffer(&with_palette(palette)));
        assert!(text.contains("cannot read the PNG image"), "{text}");
    }
}

#[test]
fn sizes_are_checked_before_memory_is_allocated() {
    let io = ImageIo::new();
    let file = io
        .save_to_buffer(&ImageRgba8U::new(8, 8), ImageFileFormat::Png)
        .unwrap();
    assert_eq!(with_png_size(&file, 8, 8), file, "the checksum is right");
    let error = |width, height| message(io.load_from_buffer(&with_png_size(&file, width, height)));
    assert!(error(2_000_000_000, 2_000_000_000).contains("bytes of memory, 536870912 are allowed"));
    assert!(error(10_000, 10_000).contains("10000 x 10000 pixels, but the file has only"));
    assert!(error(0, 8).contains("cannot read the PNG image"));
    assert!(
        error(8, 9).contains("cannot read the PNG image"),
        "fewer rows than the header says"
    );
    // JPEG: the size follows the frame marker.
    let mut file = io
        .save_to_buffer(&ImageRgb8U::new(8, 8), ImageFileFormat::Jpeg)
        .unwrap();
    let frame = file.windows(2).position(|w| w == [0xff, 0xc0]).unwrap();
    file[frame + 5..frame + 9].copy_from_slice(&[0xfd, 0xe8, 0xfd, 0xe8]);
    assert!(message(io.load_from_buffer(&file)).contains("65000 x 65000 pixels need"));
    file[frame + 5..frame + 9].copy_from_slice(&[0, 0, 0, 0]);
    assert!(message(io.load_from_buffer(&file)).contains("cannot read the JPEG image"));
    // TIFF: width and height are the first two entries of the directory.
    let file = io
        .save_to_buffer(&ImageDepth32F::new(8, 8), ImageFileFormat::Tiff)
        .unwrap();
    let directory = u32::from_le_bytes(file[4..8].try_into().unwrap()) as usize;
    let with_size = |width: u32, height: u32| {
        let mut file = file.clone();
        for (entry, value) in [(0, width), (1, height)] {
            let at = directory + 2 + 12 * entry + 8;
            file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        message(io.load_from_buffer(&file))
    };
    for (width, height) in [
        (60_000, 60_000),
        (0, 8),
        (9, 8),
        (8, 9),
        (u32::MAX, u32::MAX),
    ] {
        let text = with_size(width, height);
        assert!(text.contains("cannot read the TIFF image"), "{text}");
    }
    // The limit also applies to valid files.
    for image in images() {
        let format = if image.as_ref().scalar() == PixelScalar::F32 {
            FORMATS[2]
        } else {
            FORMATS[1]
        };
        let file = io.save_to_buffer(&image, format).unwrap();
        let text = message(io.with_memory_limit(1199).load_from_buffer(&file));
        assert!(
            text.contains("40 x 30") && text.contains("1199 are allowed"),
            "{text}"
        );
    }
}

#[test]
fn truncated_files_are_errors() {
    let io = ImageIo::new();
    for image in images() {
        for format in FORMATS
            .into_iter()
            .filter(|f| f.can_hold(image.as_ref().scalar()))
        {
            let file = io.save_to_buffer(&image, format).unwrap();
            for cut in (0..file.len()).step_by(7).chain([file.len() - 1]) {
                // Without its end marker, a JPEG file still holds all pixels.
                if format == ImageFileFormat::Jpeg && cut + 2 >= file.len() {
                    continue;
                }
                let result = io.load_from_buffer(&file[..cut]);
                assert!(
                    result.is_err(),
                    "{} as {format}: {cut} of {} bytes",
                    image.pixel_type(),
                    file.len()
                );
            }
        }
    }
}

#[test]
fn unwritable_files_are_explained() {
    let io = ImageIo::new();
    let image = ImageRgb8U::new(640, 480);
    if Path::new("/dev/full").exists() {
        let full = io.with_format(ImageFileFormat::Png);
        let text = message(full.save(&image, "/dev/full"));
        assert!(
            text.starts_with("/dev/full: cannot be written; free some space or")
                && text.contains(": No space left"),
            "{text}"
        );
        let error = full.save(&image, "/dev/full").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        let cause = error.cause().unwrap().downcast_ref::<std::io::Error>();
        assert_eq!(cause.unwrap().kind(), std::io::ErrorKind::StorageFull);
        assert!(
            fs::metadata("/dev/full").is_ok_and(|m| !m.is_file()),
            "the device is still there"
        );
    } else {
        eprintln!("skipped: there is no /dev/full");
    }
    let text = message(io.save(&image, "/no/such/directory/a.png"));
    assert!(text.contains("create its directory first"), "{text}");
    if Path::new("/proc/self").exists() {
        // Not even the administrator can create files here.
        let text = message(io.save(&image, "/proc/self/a.png"));
        assert!(
            text.contains("/proc/self/a.png: cannot be written"),
            "{text}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("d.png")).unwrap();
    assert!(
        message(io.save(&image, folder.path().join("d.png"))).contains("a directory has this name")
    );
    // The longest possible name, and a link that remains a link.
    let long = folder.path().join(format!("{}.png", "n".repeat(251)));
    io.save(&image, &long).unwrap();
    #[cfg(unix)]
    {
        let link = folder.path().join("link.png");
        std::os::unix::fs::symlink(&long, &link).unwrap();
        let other = ImageRgb8U::with_value(2, 2, 9);
        io.save(&other, &link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(io.load_as::<Rgb8U>(&long).unwrap(), other);
    }
}

/// Returns the Python interpreter `TARRAGON_PYTHON`, or `python3`, if it has the given modules.
fn python(modules: &str) -> Option<std::process::Command> {
    let program = std::env::var("TARRAGON_PYTHON").unwrap_or("python3".into());
    let probe = std::process::Command::new(&program)
        .args(["-c", &format!("import {modules}")])
        .output();
    if probe.is_ok_and(|o| o.status.success()) {
        return Some(std::process::Command::new(program));
    }
    eprintln!("skipped: {program} has no {modules}; name one that has by TARRAGON_PYTHON");
    None
}

/// Compares every value of every file with Pillow and tifffile.
#[test]
fn files_are_exchanged_with_other_programs() {
    let Some(mut python) = python("numpy, PIL, tifffile") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let io = ImageIo::new();
    for image in images() {
        for format in [ImageFileFormat::Png, ImageFileFormat::Tiff] {
            if format.can_hold(image.as_ref().scalar()) {
                let name = format!("{}.{}", image.pixel_type(), format.extension());
                io.save(&image, folder.path().join(name)).unwrap();
            }
        }
    }
    let script = r#"
import sys, os, numpy as np, tifffile
from PIL import Image
os.chdir(sys.argv[1])
i = np.arange
def expect(name, want):
    got = np.array(Image.open(name)).astype(want.dtype)
    assert got.shape == want.shape and (got == want).all(), name
    if name.endswith('tiff'):
        got = tifffile.imread(name)
        assert got.dtype == want.dtype and (got == want).all(), name
def colors(n, swap):
    a = (i(1200*n)*3 % 256).astype(np.uint8).reshape(30, 40, n)
    return a[..., swap]
d = np.where(i(1200) % 7 == 0, np.inf, (i(1200).astype(np.float32)*np.float32(0.01))).astype(np.float32).reshape(30, 40)
for e in ('png', 'tiff'):
    expect('Rgba8U.'+e, colors(4, [0, 1, 2, 3])); expect('Bgra8U.'+e, colors(4, [2, 1, 0, 3]))
    expect('Rgb8U.'+e, colors(3, [0, 1, 2])); expect('Bgr8U.'+e, colors(3, [2, 1, 0]))
    expect('Grey8U.'+e, colors(1, [0])[..., 0])
    expect('Depth16U.'+e, (i(1200)*77 % 65536).astype(np.uint16).reshape(30, 40))
    expect('Label16I.'+e, (i(1200)*27).astype(np.uint16).reshape(30, 40))
expect('Depth32F.tiff', d)
for c in ('zlib', None): tifffile.imwrite(f'theirs_{c}.tiff', d, compression=c)
for c in ('packbits', 'tiff_lzw'): Image.fromarray(d).save(f'theirs_{c}.tiff', compression=c)
tifffile.imwrite('theirs_signed.tiff', (i(1200)*27).astype(np.int16).reshape(30, 40))
tifffile.imwrite('theirs_big.tiff', d, bigtiff=True, byteorder='>')
Image.fromarray(colors(3, [0, 1, 2])).convert('P').save('theirs_palette.png')
Image.fromarray(colors(3, [0, 1, 2])).save('theirs_progressive.jpg', progressive=True, quality=95)
tifffile.imwrite('theirs_stack.tiff', np.zeros((3, 5, 4), np.uint8), photometric='minisblack')
"#;
    let output = python
        .args(["-c", script])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let depth = images().pop().unwrap();
    for name in ["zlib", "packbits", "None", "tiff_lzw", "big"] {
        let path = folder.path().join(format!("theirs_{name}.tiff"));
        assert_eq!(io.load(&path).unwrap(), depth, "{name}");
    }
    let path = |name: &str| folder.path().join(name);
    let labels = gradient::<Label16I>(40, 30, |i| (i * 27) as i16);
    assert_eq!(io.load(path("theirs_signed.tiff")).unwrap(), labels.into());
    assert!(io.load_as::<Rgb8U>(path("theirs_palette.png")).is_ok());
    assert_eq!(
        io.load_as::<Rgb8U>(path("theirs_progressive.jpg"))
            .unwrap()
            .shape(),
        [30, 40, 3]
    );
    let stack = io.load_metadata(path("theirs_stack.tiff")).unwrap();
    assert_eq!(stack.unwrap().depth, 3);
    assert!(message(io.load(path("theirs_stack.tiff"))).contains("got several"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Images of any size, from noise to long runs of one colour.
    #[test]
    fn every_bit_is_restored(width in 1..70_usize, height in 1..40_usize, seed in any::<u64>(), steps in 1..9_u32) {
        let io = ImageIo::new();
        let mut state = seed | 1;
        // Marsaglia's xorshift; fewer bits per step make longer runs.
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> (64 - steps * 4)
        };
        let mut random = |n: usize| (0..n).map(|_| next()).collect::<Vec<u64>>();
        let n = width * height;
        let bytes: Vec<u8> = random(4 * n).iter().map(|x| *x as u8).collect();
        let words: Vec<u16> = random(n).iter().map(|x| *x as u16).collect();
        let floats: Vec<f32> = random(n).iter().map(|x| f32::from_bits(*x as u32 & 0xbf7f_ffff)).collect();
        let any: [ImageAny; 5] = [
            ImageRgba8U::from_data(width, height, bytes.clone()).unwrap().into(),
            ImageRgb8U::from_data(width, height, bytes[..3 * n].to_vec()).unwrap().into(),
            ImageGrey8U::from_data(width, height, bytes[..n].to_vec()).unwrap().into(),
            ImageDepth16U::from_data(width, height, words).unwrap().into(),
            ImageDepth32F::from_data(width, height, floats).unwrap().into(),
        ];
        for image in any {
            for format in [ImageFileFormat::Png, ImageFileFormat::Tiff] {
                if format.can_hold(image.as_ref().scalar()) {
                    let file = io.save_to_buffer(&image, format).unwrap();
                    prop_assert_eq!(&io.load_from_buffer(&file).unwrap(), &image);
                }
            }
        }
    }

    /// A wrong byte causes an error or another image, never a panic.
    #[test]
    fn changed_bytes_do_not_panic(which in 0..8_usize, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let io = ImageIo::new().with_memory_limit(1 << 24);
        let image = images().swap_remove(which);
        for format in FORMATS.into_iter().filter(|f| f.can_hold(image.as_ref().scalar())) {
            let mut file = io.save_to_buffer(&image, format).unwrap();
            let at = at.index(file.len());
            file[at] = byte;
            let _ = io.load_from_buffer(&file);
            let _ = io.load_metadata_from_buffer(&file);
        }
    }
}
