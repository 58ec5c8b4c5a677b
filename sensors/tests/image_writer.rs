//! The files that `ImageWriter` writes.

use std::collections::BTreeSet;
use std::path::Path;
use tarragon_framework::prelude::*;
use tarragon_sensors::*;

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let name =
        |e: std::io::Result<std::fs::DirEntry>| e.unwrap().file_name().into_string().unwrap();
    entries.map(name).collect()
}

/// Returns the name of the file that one forced publish writes.
fn name_of<P: ImageFilePixel>(port: &str, format: &str, time: f64) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = ImageWriter::new();
    let format = format!("{}/{format}", folder.path().display());
    let index = writer
        .declare_image_input_port::<P>(port, &format, 1.0, 0.0)
        .unwrap();
    let mut b = DiagramBuilder::new();
    let writer = b.add_f64("writer", writer);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.set_time(time);
    ctx.fix(writer.image_port(index).unwrap(), Image::<P>::new(2, 2))
        .unwrap();
    ctx.force_publish().unwrap();
    let mut names = names(folder.path());
    assert_eq!(names.len(), 1, "one file, and no temporary file");
    names.pop_first().unwrap()
}

#[test]
fn fields_and_formats_are_those_of_drake() {
    let t = 1.25;
    for (format, expected) in [
        ("{port_name}", "cam.png"),
        ("{image_type}", "color.png"),
        ("{time_double}", "1.25.png"),
        ("{time_double:.3f}", "1.250.png"),
        ("{time_double:08.2f}", "00001.25.png"),
        ("{time_usec}", "1250000.png"),
        ("{time_msec:05}", "01250.png"),
        ("{count:05}", "00000.png"),
        ("{count:04d}", "0000.png"),
        ("a{count:>5}", "a    0.png"),
        ("{{{count}}}", "{0}.png"),
        ("my_image_{count:03}.txt", "my_image_000.txt.png"),
        ("x.jpg", "x.jpg"),
        ("x.jpeg", "x.jpeg"),
        ("x.TIF", "x.TIF"),
    ] {
        assert_eq!(name_of::<Rgba8U>("cam", format, t), expected, "{format}");
    }
    // A time that is not an exact binary fraction is rounded.
    assert_eq!(
        name_of::<Rgba8U>("cam", "{time_usec}_{time_msec}", 0.3),
        "300000_300.png"
    );
}

#[test]
fn unsuitable_extensions_get_a_default_extension_appended() {
    assert_eq!(name_of::<Depth32F>("d", "{image_type}", 0.0), "depth.tiff");
    assert_eq!(name_of::<Depth32F>("d", "a.png", 0.0), "a.png.tiff");
    assert_eq!(name_of::<Depth16U>("d", "a.jpg", 0.0), "a.jpg.png");
    assert_eq!(name_of::<Depth16U>("d", "a.tiff", 0.0), "a.tiff");
    assert_eq!(name_of::<Label16I>("l", "{image_type}", 0.0), "label.png");
    assert_eq!(
        name_of::<Grey8U>("g", "{image_type}", 0.0),
        "grey_scale.png"
    );
}

#[test]
fn ports_count_separately_and_counts_can_be_reset() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("left/color")).unwrap();
    let at = |format: &str| format!("{}/{format}", folder.path().display());
    let mut writer = ImageWriter::new();
    writer.set_image_io(ImageIo::new().with_jpeg_quality(50).unwrap());
    let left = writer
        .declare_image_input_port::<Bgr8U>(
            "left",
            &at("{port_name}/{image_type}/{count}.jpg"),
            0.1,
            0.0,
        )
        .unwrap();
    let depth = writer
        .declare_image_input_port::<Depth32F>("depth", &at("d{count:02}"), 0.25, 0.3)
        .unwrap();
    let mut b = DiagramBuilder::new();
    let writer = b.add_f64("writer", writer);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    let blue = ImageBgr8U::from_data(1, 1, vec![200, 10, 10]).unwrap();
    ctx.fix(writer.image_port(left).unwrap(), blue).unwrap();
    ctx.fix(
        writer.image_port(depth).unwrap(),
        ImageDepth32F::with_value(3, 2, 1.5),
    )
    .unwrap();
    let mut sim = Simulator::new(&diagram, ctx).unwrap();
    sim.advance_to(0.99).unwrap();
    let counts = |ctx: &Context<f64>| {
        (
            writer.image_count(left, ctx).unwrap(),
            writer.image_count(depth, ctx).unwrap(),
        )
    };
    // 0, 0.1 ... 0.9 s; 0.3, 0.55, 0.8 s.
    assert_eq!(counts(sim.context()), (10, 3));
    assert!(
        names(folder.path()).is_superset(
            &["d00.tiff", "d01.tiff", "d02.tiff"]
                .map(String::from)
                .into()
        )
    );
    assert_eq!(names(&folder.path().join("left/color")).len(), 10);
    let read = load_image::<Rgb8U>(&folder.path().join("left/color/7.jpg")).unwrap();
    assert!(
        read.at(0, 0)[2] > 150 && read.at(0, 0)[0] < 60,
        "{:?} is blue",
        read.data()
    );
    // A new context counts from zero; a clone shares the count.
    let other = diagram.default_context();
    assert_eq!(counts(&other), (0, 0));
    let clone = sim.context().clone();
    clone.force_publish().unwrap();
    assert_eq!(counts(sim.context()), (11, 4));
    writer.reset_all_image_counts(sim.context()).unwrap();
    assert_eq!(counts(&clone), (0, 0));
    sim.context().force_publish().unwrap();
    assert_eq!(
        names(&folder.path().join("left/color")).len(),
        11,
        "0.jpg was overwritten"
    );
}

#[test]
fn failed_files_are_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = ImageWriter::new();
    let format = format!("{}/{{count}}.png", folder.path().display());
    let grey = writer
        .declare_image_input_port::<Grey8U>("grey", &format, 1.0, 0.0)
        .unwrap();
    let mut b = DiagramBuilder::new();
    let writer = b.add_f64("writer", writer);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(writer.image_port(grey).unwrap(), ImageGrey8U::default())
        .unwrap();
    let text = ctx.force_publish().unwrap_err().to_string();
    assert!(
        text.contains("publish of 'writer'") && text.contains("0.png: an image without pixels"),
        "{text}"
    );
    assert_eq!(writer.image_count(grey, &ctx).unwrap(), 0);
    ctx.fix(writer.image_port(grey).unwrap(), ImageGrey8U::new(1, 1))
        .unwrap();
    ctx.force_publish().unwrap();
    assert_eq!(names(folder.path()), BTreeSet::from(["0.png".into()]));
}

#[test]
fn invalid_file_name_formats_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = |format: &str| {
        let format = format.replace("DIR", &folder.path().display().to_string());
        let port = ImageWriter::new().declare_image_input_port::<Rgba8U>("cam", &format, 1.0, 0.0);
        port.unwrap_err().to_string()
    };
    assert!(message("DIR/").contains("must end with the name of a file"));
    assert!(message("").contains("must end with the name of a file"));
    assert!(
        message("DIR/{time_double:d}")
            .contains("the type of a real number must be one of f, F, e, E, g, G, got 'd'")
    );
    assert!(message("DIR/{port_name:05}").contains("for numbers"));
    assert!(message("DIR/{time_msec}/{count}").contains("depends on {time_msec}"));
    assert!(
        message("DIR/none/{count}").contains("'cam': the directory")
            && message("DIR/none/{count}").contains("create it first")
    );
    assert_eq!(
        names(folder.path()).len(),
        0,
        "the probe file has been removed"
    );
}
