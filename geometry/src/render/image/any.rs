//! Images whose pixel type is only known at run time.

use super::*;

macro_rules! any_image {
    ($($name:ident),*) => {
        /// An image of any pixel type, such as that of a file whose type is unknown before reading.
        ///
        /// ```
        /// use tarragon_geometry::render::{Image, ImageAny, Grey8U, ImageGrey8U, Rgb8U};
        /// let any = ImageAny::from(ImageGrey8U::new(4, 3));
        /// assert_eq!((any.width(), any.pixel_type()), (4, "Grey8U"));
        /// // Conversion to another type returns the image unchanged.
        /// let any = Image::<Rgb8U>::try_from(any).unwrap_err();
        /// let grey = Image::<Grey8U>::try_from(any).unwrap();
        /// assert_eq!(grey.height(), 3);
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        pub enum ImageAny {
            $(
                #[doc = concat!("Pixels of type [`", stringify!($name), "`](struct@", stringify!($name), ").")]
                $name(Image<$name>),
            )*
        }

        /// A borrowed image of any pixel type.
        ///
        /// ```
        /// use tarragon_geometry::render::{ImageAny, ImageGrey8U, ImageRef};
        /// fn area<'a>(image: impl Into<ImageRef<'a>>) -> usize {
        ///     let image = image.into();
        ///     image.width() * image.height()
        /// }
        /// let image = ImageGrey8U::new(4, 3);
        /// assert_eq!(area(&image), 12);
        /// assert_eq!(area(&ImageAny::from(image)), 12);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum ImageRef<'a> {
            $(
                #[doc = concat!("Pixels of type [`", stringify!($name), "`](struct@", stringify!($name), ").")]
                $name(&'a Image<$name>),
            )*
        }

        impl<'a> ImageRef<'a> {
            /// Returns the number of pixels per row.
            pub fn width(self) -> usize {
                match self {
                    $(Self::$name(image) => image.width(),)*
                }
            }
            /// Returns the number of rows.
            pub fn height(self) -> usize {
                match self {
                    $(Self::$name(image) => image.height(),)*
                }
            }
            /// Returns the number of channels per pixel.
            pub fn channels(self) -> usize {
                match self {
                    $(Self::$name(_) => $name::CHANNELS,)*
                }
            }
            /// Returns the meaning of the channels.
            pub fn format(self) -> PixelFormat {
                match self {
                    $(Self::$name(_) => $name::FORMAT,)*
                }
            }
            /// Returns the number type of one channel.
            pub fn scalar(self) -> PixelScalar {
                match self {
                    $(Self::$name(_) => $name::SCALAR,)*
                }
            }
            /// Returns the name of the pixel type, such as `Rgba8U`.
            pub fn pixel_type(self) -> &'static str {
                match self {
                    $(Self::$name(_) => $name::NAME,)*
                }
            }
        }
        impl<'a> From<&'a ImageAny> for ImageRef<'a> {
            fn from(image: &'a ImageAny) -> Self {
                match image {
                    $(ImageAny::$name(image) => Self::$name(image),)*
                }
            }
        }
        $(
            impl From<Image<$name>> for ImageAny {
                fn from(image: Image<$name>) -> Self {
                    Self::$name(image)
                }
            }
            impl<'a> From<&'a Image<$name>> for ImageRef<'a> {
                fn from(image: &'a Image<$name>) -> Self {
                    Self::$name(image)
                }
            }
            impl TryFrom<ImageAny> for Image<$name> {
                /// The unchanged image, whose pixel type is another one.
                type Error = ImageAny;
                fn try_from(image: ImageAny) -> Result<Self, ImageAny> {
                    match image {
                        ImageAny::$name(image) => Ok(image),
                        other => Err(other),
                    }
                }
            }
        )*
    };
}
any_image!(
    Rgba8U, Rgb8U, Bgra8U, Bgr8U, Grey8U, Depth16U, Depth32F, Label16I
);

impl ImageAny {
    /// Borrows the image.
    pub fn as_ref(&self) -> ImageRef<'_> {
        self.into()
    }
    /// Returns the number of pixels per row.
    pub fn width(&self) -> usize {
        self.as_ref().width()
    }
    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.as_ref().height()
    }
    /// Returns the name of the pixel type, such as `Rgba8U`.
    pub fn pixel_type(&self) -> &'static str {
        self.as_ref().pixel_type()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_type_round_trips() {
        fn check<P: PixelType>()
        where
            ImageAny: From<Image<P>>,
            Image<P>: TryFrom<ImageAny, Error = ImageAny>,
        {
            let image = Image::<P>::new(3, 2);
            let any = ImageAny::from(image.clone());
            let view = any.as_ref();
            assert_eq!((view.width(), view.height()), (3, 2));
            assert_eq!((view.channels(), view.format()), (P::CHANNELS, P::FORMAT));
            assert_eq!((view.scalar(), view.pixel_type()), (P::SCALAR, P::NAME));
            assert_eq!(Image::<P>::try_from(any), Ok(image));
        }
        check::<Rgba8U>();
        check::<Rgb8U>();
        check::<Bgra8U>();
        check::<Bgr8U>();
        check::<Grey8U>();
        check::<Depth16U>();
        check::<Depth32F>();
        check::<Label16I>();
    }
}
