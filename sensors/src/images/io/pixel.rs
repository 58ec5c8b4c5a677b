//! Pixel types that image files can hold.

use super::format::ImageFileFormat;
use tarragon_geometry::render::{
    Bgr8U, Bgra8U, Depth16U, Depth32F, Grey8U, Image, ImageAny, ImageRef, Label16I, PixelType,
    Rgb8U, Rgba8U,
};

pub(super) mod sealed {
    use super::*;
    /// Conversion of images to and from the contents of files.
    pub trait Coded: PixelType {
        fn borrow(image: &Image<Self>) -> ImageRef<'_>;
        /// Converts an image from a file if nothing is lost; otherwise returns the image unchanged.
        fn from_file(found: ImageAny) -> Result<Image<Self>, ImageAny>;
    }
}
use sealed::Coded;

/// A pixel type that image files can hold.
///
/// ```
/// use tarragon_sensors::{Depth32F, ImageFileFormat, ImageFilePixel, Rgba8U};
/// assert_eq!((Rgba8U::IMAGE_TYPE, Depth32F::IMAGE_TYPE), ("color", "depth"));
/// assert_eq!(Depth32F::DEFAULT_FORMAT, ImageFileFormat::Tiff);
/// ```
pub trait ImageFilePixel: Coded {
    /// `color`, `depth`, `label` or `grey_scale`: Drake's `image_type` in file names.
    const IMAGE_TYPE: &'static str;
    /// The format used if a file name has no extension.
    const DEFAULT_FORMAT: ImageFileFormat;
}

macro_rules! file_pixels {
    ($($pixel:ident, $image_type:literal, $default:ident, [$($from:ident => $convert:expr),*];)*) => {$(
        impl Coded for $pixel {
            fn borrow(image: &Image<Self>) -> ImageRef<'_> {
                image.into()
            }
            fn from_file(found: ImageAny) -> Result<Image<Self>, ImageAny> {
                match found {
                    ImageAny::$pixel(image) => Ok(image),
                    $(ImageAny::$from(image) => Ok($convert(image)),)*
                    other => Err(other),
                }
            }
        }
        impl ImageFilePixel for $pixel {
            const IMAGE_TYPE: &'static str = $image_type;
            const DEFAULT_FORMAT: ImageFileFormat = ImageFileFormat::$default;
        }
    )*};
}

file_pixels! {
    Rgba8U, "color", Png, [Rgb8U => reordered];
    Rgb8U, "color", Png, [];
    Bgra8U, "color", Png, [Rgba8U => reordered, Rgb8U => reordered];
    Bgr8U, "color", Png, [Rgb8U => reordered];
    Grey8U, "grey_scale", Png, [];
    Depth16U, "depth", Png, [];
    Depth32F, "depth", Tiff, [];
    Label16I, "label", Png, [Depth16U => labels];
}

fn reordered<P: PixelType, Q: PixelType>(image: Image<P>) -> Image<Q>
where
    Image<Q>: for<'a> From<&'a Image<P>>,
{
    (&image).into()
}

/// Restores labels from the unsigned numbers with the same bits, which files store so that viewers
/// can open them.
fn labels(image: Image<Depth16U>) -> Image<Label16I> {
    let (width, height) = (image.width(), image.height());
    let data = image.into_data().into_iter().map(|l| l as i16).collect();
    Image::from_data(width, height, data).expect("as many values as before")
}
