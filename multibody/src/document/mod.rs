//! Content of model files: bytes read within limits, XML with positions, numbers as Drake
//! reads them, and PNG images.

pub(crate) mod input;
pub(crate) mod numbers;
pub(crate) mod origins;
pub(crate) mod png_image;
pub(crate) mod prepared_xml;
pub(crate) mod xml;
mod xml_scan;
pub(crate) mod xml_tree;
