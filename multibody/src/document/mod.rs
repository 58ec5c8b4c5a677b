//! Text of model files: bytes read within limits, XML with positions, and numbers as Drake reads
//! them.

pub(crate) mod input;
pub(crate) mod numbers;
pub(crate) mod prepared_xml;
pub(crate) mod xml;
