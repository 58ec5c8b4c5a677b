//! Checks of the readers of all image formats.

use tarragon_sensors::{ImageAny, ImageFileFormat, ImageIo, Label16I};

/// Small, so that larger images are refused before they cost time.
const MEMORY_LIMIT: usize = 1 << 22;

pub fn check(bytes: &[u8], format: ImageFileFormat) {
    let io = ImageIo::new()
        .with_memory_limit(MEMORY_LIMIT)
        .with_format(format);
    let metadata = io.load_metadata_from_buffer(bytes);
    if let Ok(image) = io.load_from_buffer(bytes) {
        let metadata = metadata.expect("a readable image has metadata");
        assert_eq!(
            (image.width(), image.height()),
            (metadata.width, metadata.height)
        );
        assert_eq!((metadata.format, metadata.depth), (format, 1));
        // Lossless formats preserve the image.
        if format != ImageFileFormat::Jpeg {
            let again = io
                .save_to_buffer(&image, format)
                .expect("the format can hold the image");
            let io = ImageIo::new().with_format(format);
            // Labels are written as unsigned numbers, so their type must be requested.
            let again = match image {
                ImageAny::Label16I(_) => io
                    .load_from_buffer_as::<Label16I>(&again)
                    .map(ImageAny::from),
                _ => io.load_from_buffer(&again),
            }
            .expect("a written file can be read");
            assert!(same(&image, &again), "the written image differs");
        }
    }
}

/// Returns true if the images are equal to the bit; NaN equals NaN.
fn same(a: &ImageAny, b: &ImageAny) -> bool {
    use ImageAny::Depth32F;
    match (a, b) {
        (Depth32F(a), Depth32F(b)) => {
            let bits = |x: &f32| x.to_bits();
            a.shape() == b.shape() && a.data().iter().map(bits).eq(b.data().iter().map(bits))
        }
        (a, b) => a == b,
    }
}
