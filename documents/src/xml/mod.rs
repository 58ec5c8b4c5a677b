//! XML with positions: elements as the file spells them, numbers, and diagnostics about both.

mod origins;
mod prepared;
mod reader;
mod scan;
mod tree;

pub use origins::{OriginPlace, TextOrigins};
pub use prepared::PreparedXml;
pub use reader::{
    MAX_AROUND, Parsed, Reported, XmlReader, finite_numbers, n_numbers, parse_numbers,
};
pub use tree::{XmlAttribute, XmlNode, XmlTree};
