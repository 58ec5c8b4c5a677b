//! Tests of the structure of video files.

use super::avi::AviWriter;
use super::*;
use crate::images::io::file::UnfinishedFile;
use crate::{ImageIo, ImageRgb8U, Rgb8U};

fn frame(i: usize) -> ImageRgb8U {
    let data = (0..32 * 24 * 3).map(|j| (i * 9 + j / 7) as u8).collect();
    ImageRgb8U::from_data(32, 24, data).unwrap()
}

fn word(file: &[u8], at: usize) -> usize {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize
}

/// Returns the chunks of a RIFF file: path of lists, tag, offset and size of the content.
fn chunks(file: &[u8]) -> Vec<(String, String, usize, usize)> {
    fn walk(
        file: &[u8],
        at: usize,
        end: usize,
        path: &str,
        found: &mut Vec<(String, String, usize, usize)>,
    ) {
        let text = |at: usize| String::from_utf8(file[at..at + 4].to_vec()).unwrap();
        let mut at = at;
        while at < end {
            let (tag, size) = (text(at), word(file, at + 4));
            assert!(
                at + 8 + size <= end,
                "{path}{tag} at {at} extends beyond its parent"
            );
            if tag == "RIFF" || tag == "LIST" {
                walk(
                    file,
                    at + 12,
                    at + 8 + size,
                    &format!("{path}{}/", text(at + 8)),
                    found,
                );
            } else {
                found.push((path.into(), tag, at + 8, size));
            }
            at += 8 + size.next_multiple_of(2);
        }
        assert_eq!(at, end, "{path} ends at a chunk boundary");
    }
    let mut found = vec![];
    walk(file, 0, file.len(), "", &mut found);
    found
}

/// Returns the frames listed by the OpenDML indexes: offset and size of the JPEG data.
fn indexed_frames(file: &[u8]) -> Vec<(usize, usize)> {
    let all = chunks(file);
    let (.., indx, _) = all.iter().find(|c| c.1 == "indx").unwrap();
    let long = |at: usize| word(file, at) + (word(file, at + 4) << 32);
    let mut frames = vec![];
    for i in 0..word(file, indx + 4) {
        let entry = indx + 24 + 16 * i;
        let (index, size, count) = (long(entry), word(file, entry + 8), word(file, entry + 12));
        assert_eq!(&file[index..index + 4], b"ix00");
        assert_eq!(word(file, index + 4) + 8, size);
        assert_eq!(word(file, index + 12), count);
        let base = long(index + 20);
        assert_eq!(&file[base..base + 4], b"movi");
        for j in 0..count {
            let at = index + 32 + 8 * j;
            frames.push((base + word(file, at), word(file, at + 4)));
        }
    }
    frames
}

#[test]
fn every_index_of_an_avi_file_lists_its_frames() {
    let folder = tempfile::tempdir().unwrap();
    for (name, segment, parts) in [("one", 1 << 30, 1), ("many", 20_000, 0)] {
        let path = folder.path().join(format!("{name}.avi"));
        let mut avi =
            AviWriter::create(UnfinishedFile::create(&path).unwrap(), (32, 24), (25, 1)).unwrap();
        avi.set_segment_bytes(segment);
        for i in 0..50 {
            avi.write_frame((&frame(i)).into()).unwrap();
        }
        avi.finish().unwrap();
        let file = std::fs::read(&path).unwrap();
        let all = chunks(&file);
        let riffs = all.iter().filter(|c| c.1 == "ix00").count();
        assert!(riffs == parts || (parts == 0 && riffs > 2), "{riffs} parts");
        // The indexes list the frames that are in the file, in order.
        let stand: Vec<_> = all
            .iter()
            .filter(|c| c.1 == "00dc")
            .map(|c| (c.2, c.3))
            .collect();
        assert_eq!(stand.len(), 50);
        assert_eq!(indexed_frames(&file), stand);
        for part in all.iter().filter(|c| c.0.starts_with("AVIX")) {
            assert_eq!(part.0, "AVIX/movi/");
        }
        // The old index covers the first part.
        let (.., idx1, size) = all.iter().find(|c| c.1 == "idx1").unwrap();
        let movi = all.iter().find(|c| c.1 == "00dc").unwrap().2 - 12;
        let first = all
            .iter()
            .filter(|c| c.0 == "AVI /movi/" && c.1 == "00dc")
            .count();
        assert_eq!(size / 16, first);
        for (i, (place, size)) in stand[..first].iter().enumerate() {
            let entry = idx1 + 16 * i;
            assert_eq!(
                (movi + word(&file, entry + 8) + 8, word(&file, entry + 12)),
                (*place, *size)
            );
        }
        // Counts, size and rate.
        let at = |tag: &str| all.iter().find(|c| c.1 == tag).unwrap().2;
        assert_eq!(word(&file, at("avih")), 40_000, "µs per frame");
        assert_eq!(word(&file, at("avih") + 16), first);
        assert_eq!(
            [word(&file, at("avih") + 32), word(&file, at("avih") + 36)],
            [32, 24]
        );
        assert_eq!(&file[at("strh")..at("strh") + 8], b"vidsMJPG");
        assert_eq!(
            [word(&file, at("strh") + 20), word(&file, at("strh") + 24)],
            [1, 25]
        );
        assert_eq!(word(&file, at("strh") + 32), 50);
        assert_eq!(word(&file, at("dmlh")), 50);
        // Every frame is a valid JPEG image.
        for (i, (place, size)) in stand.iter().enumerate() {
            let picture = ImageIo::new()
                .load_from_buffer_as::<Rgb8U>(&file[*place..place + size])
                .unwrap();
            let sum: u64 = picture
                .data()
                .iter()
                .zip(frame(i).data())
                .map(|(a, b)| u64::from(a.abs_diff(*b)))
                .sum();
            // Quality 90 with chroma subsampling; successive frames differ by 9.
            assert!(sum < 6 * 32 * 24 * 3, "frame {i} differs by {sum}");
        }
        assert_eq!(
            std::fs::read_dir(folder.path())
                .unwrap()
                .filter(|e| e
                    .as_ref()
                    .unwrap()
                    .file_name()
                    .to_string_lossy()
                    .ends_with(".tmp"))
                .count(),
            0
        );
    }
}

#[test]
fn an_animated_png_is_lossless() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    let mut video = VideoFile::create(&path, 12.5).unwrap();
    for i in 0..5 {
        video.write_frame(&frame(i)).unwrap();
    }
    assert_eq!(video.finish().unwrap(), 5);
    let mut decoder =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&path).unwrap()));
    decoder.ignore_checksums(false);
    let mut reader = decoder.read_info().unwrap();
    assert_eq!(reader.info().animation_control().unwrap().num_frames, 5);
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    for i in 0..5 {
        reader.next_frame(&mut data).unwrap();
        assert_eq!(data, frame(i).data());
        let control = reader.info().frame_control().unwrap();
        assert_eq!(
            f64::from(control.delay_num) / f64::from(control.delay_den),
            0.08
        );
    }
    // Read as an image, it is its first frame.
    assert_eq!(ImageIo::new().load_as::<Rgb8U>(&path).unwrap(), frame(0));
}

#[test]
fn mismatched_and_late_frames_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.avi");
    let message = |r: Result<()>| r.unwrap_err().to_string();
    let mut video = VideoFile::create(&path, 30.0).unwrap();
    assert!(
        message(video.write_frame(&crate::ImageDepth32F::new(3, 3))).contains("see `color_map`")
    );
    assert!(message(video.write_frame(&ImageRgb8U::default())).contains("0 x 0 pixels"));
    video.write_frame(&frame(0)).unwrap();
    let wrong = message(video.write_frame(&ImageRgb8U::new(3, 2)));
    assert!(
        wrong.contains(
            "frame 1 must have 32 x 24 pixels of type Rgb8U like the first, got 3 x 2 of type Rgb8U"
        ),
        "{wrong}"
    );
    video.write_frame(&frame(1)).unwrap();
    video.end().unwrap();
    assert!(message(video.write_frame(&frame(2))).contains("ended after 2 frames"));
    drop(video);
    assert_eq!(
        chunks(&std::fs::read(&path).unwrap())
            .iter()
            .filter(|c| c.1 == "00dc")
            .count(),
        2
    );
    let message = |path: &str, rate| VideoFile::create(path, rate).err().unwrap().to_string();
    assert!(message("a.mp4", 30.0).contains(".avi, .png or .apng"));
    assert!(message("a.avi", 0.0).contains("per second, got 0.0"));
    assert!(message("a.avi", f64::NAN).contains("per second, got NaN"));
    // A video without frames leaves no file.
    VideoFile::create(folder.path().join("none.avi"), 1.0)
        .unwrap()
        .finish()
        .unwrap();
    assert!(!folder.path().join("none.avi").exists());
}

#[test]
fn unwritable_paths_are_explained() {
    let mut video = VideoFile::create("/no/such/a.png", 30.0).unwrap();
    let text = video.write_frame(&frame(0)).unwrap_err().to_string();
    assert!(text.contains("create its directory first"), "{text}");
    let text = VideoWriter::<Rgba8U>::new("/no/such/a.avi", 30.0)
        .err()
        .unwrap()
        .to_string();
    assert!(
        text.contains("VideoWriter: the directory '/no/such' cannot be used"),
        "{text}"
    );
    let text = VideoWriter::<Depth32F>::new("a.avi", 30.0)
        .err()
        .unwrap()
        .to_string();
    assert!(text.contains("cannot show Depth32F"), "{text}");
    #[cfg(target_os = "linux")]
    {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("full.avi");
        std::os::unix::fs::symlink("/dev/full", &link).unwrap();
        let mut video = VideoFile::create(&link, 30.0).unwrap();
        let text = video.write_frame(&frame(0)).unwrap_err().to_string();
        assert!(text.contains("a video must be a regular file"), "{text}");
    }
}

#[test]
fn a_dropped_context_leaves_a_complete_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.avi");
    let mut b = DiagramBuilder::new();
    let writer = VideoWriter::<Rgba8U>::new(&path, 10.0)
        .unwrap()
        .with_start_time(0.05)
        .unwrap();
    let video = b.add_f64("video", writer);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(video.image, ImageRgba8U::with_value(16, 16, 7))
        .unwrap();
    let mut sim = Simulator::new(&diagram, ctx).unwrap();
    sim.advance_to(1.0).unwrap();
    assert_eq!(diagram.systems().next().unwrap().input_ports, ["image"]);
    assert_eq!(video.frame_count(sim.context()).unwrap(), 10);
    assert!(!path.exists());
    drop(sim);
    assert_eq!(indexed_frames(&std::fs::read(&path).unwrap()).len(), 10);
    // A finished video refuses further frames with an error.
    let mut ctx = diagram.default_context();
    ctx.fix(video.image, ImageRgba8U::with_value(16, 16, 7))
        .unwrap();
    ctx.force_publish().unwrap();
    assert_eq!(video.finish(&ctx).unwrap(), 1);
    let text = ctx.force_publish().unwrap_err().to_string();
    assert!(
        text.contains("publish of 'video'") && text.contains("ended after 1 frame"),
        "{text}"
    );
}
