//! Decodes arbitrary bytes as messages of images and of point clouds. Images and clouds are no
//! larger than the messages can hold.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarragon_lcm::LcmMessage;
use tarragon_lcm::types::{LcmtImage, LcmtImageArray, LcmtPointCloud};
use tarragon_sensors::{
    Depth16U, Depth32F, Grey8U, Image, Label16I, LcmImagePixel, PointCloud, Rgb8U, Rgba8U,
    decode_image, decode_point_cloud,
};

/// Checks the size of a decoded image. Deflate makes at most 1040 bytes of one byte; one byte
/// becomes at most four channels of a byte, two bytes at most one float.
fn check<P: LcmImagePixel>(message: &LcmtImage) {
    let mut image = Image::<P>::default();
    let pixels = match decode_image(message, &mut image) {
        Ok(()) => message.width as usize * message.height as usize,
        Err(_) => 0,
    };
    assert_eq!(image.size(), pixels * P::CHANNELS);
    assert!(pixels <= 32 * 1040 * (message.data.len() + 64));
}

fn check_all(message: &LcmtImage) {
    check::<Rgba8U>(message);
    check::<Rgb8U>(message);
    check::<Grey8U>(message);
    check::<Depth32F>(message);
    check::<Depth16U>(message);
    check::<Label16I>(message);
}

fuzz_target!(|bytes: &[u8]| {
    // Arbitrary messages.
    let mut whole = LcmtImageArray::fingerprint().to_be_bytes().to_vec();
    whole.extend_from_slice(bytes);
    if let Ok(message) = LcmtImageArray::decode(&whole) {
        message.images.iter().for_each(check_all);
    }
    let mut whole = LcmtPointCloud::fingerprint().to_be_bytes().to_vec();
    whole.extend_from_slice(bytes);
    if let Ok(message) = LcmtPointCloud::decode(&whole) {
        let mut cloud = PointCloud::default();
        if decode_point_cloud(&message, &mut cloud).is_err() {
            assert_eq!(cloud.size(), 0);
        }
        assert!(cloud.size() <= message.data.len());
    }
    // Messages with a header whose fields often agree with the data.
    let Some((header, data)) = bytes.split_first_chunk::<8>() else {
        return;
    };
    let [width, height, stride, format, channel, method, order, _] = *header;
    check_all(&LcmtImage {
        width: width.into(),
        height: height.into(),
        row_stride: i32::from(stride) * 4,
        data: data.to_vec().into(),
        bigendian: order & 1 == 1,
        pixel_format: (format % 8) as i8,
        channel_type: (channel % 8) as i8,
        compression_method: (method % 4) as i8,
        ..LcmtImage::default()
    });
});
