//! Images and point clouds as LCM messages, in both directions.

pub(crate) mod image;
pub(crate) mod point_cloud;
