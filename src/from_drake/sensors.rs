//! `pydrake.systems.sensors`: cameras, images and their files, encoders.
//!
//! Images and cameras are in [`geometry::render`](crate::geometry::render), and exported by
//! [`sensors`](crate::sensors) too. Classes per pixel type, such as
//! `Image[PixelType.kRgba8U]`, are one generic type.
//!
#![doc = include_str!("sensors.md")]
