//! Timestamps of images and point clouds, and times in file names.
//!
//! Source of the right values: the times are `0.01 k` s, rounded. Drake cuts them in messages.

use tarragon_framework::prelude::*;
use tarragon_sensors::*;

/// At 2.05 s, messages said 2 049 999 us.
#[test]
fn messages_and_file_names_have_rounded_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut b = DiagramBuilder::new();
    let mut images = ImageToLcmImageArrayT::new(false);
    let grey = images.declare_image_input_port::<Grey8U>("grey").unwrap();
    let mut writer = ImageWriter::new();
    let format = folder.path().join("{time_usec}_{time_msec}.png");
    let file = writer
        .declare_image_input_port::<Grey8U>("grey", format.to_str().unwrap(), 1.0, 0.0)
        .unwrap();
    let images = b.add_f64("images", images);
    let clouds = b.add_f64("clouds", PointCloudToLcm::new("camera"));
    let writer = b.add_f64("writer", writer);
    let mut ctx = b.build().unwrap().default_context();
    let pixel = || ImageGrey8U::from_data(1, 1, vec![7]).unwrap();
    ctx.fix(images.image_port(grey).unwrap(), pixel()).unwrap();
    ctx.fix(writer.image_port(file).unwrap(), pixel()).unwrap();
    ctx.fix(clouds.point_cloud, PointCloud::new(1, BaseField::XYZS))
        .unwrap();
    for k in -1000..=1000 {
        ctx.set_time(k as f64 * 0.01);
        let array = ctx.eval(images.image_array_t).unwrap();
        let image = &array.images[0].header;
        let cloud = ctx.eval(clouds.lcmt_point_cloud).unwrap();
        let found = [array.header.utime, image.utime, cloud.utime];
        assert_eq!(found, [10_000 * k; 3]);
    }
    ctx.set_time(2.05);
    ctx.force_publish().unwrap();
    assert!(folder.path().join("2050000_2050.png").exists());
    ctx.set_time(f64::NAN);
    assert!(ctx.eval(images.image_array_t).is_err());
    assert!(ctx.eval(clouds.lcmt_point_cloud).is_err());
    let error = ctx.force_publish().unwrap_err().to_string();
    assert!(error.contains("got NaN"), "{error}");
}
