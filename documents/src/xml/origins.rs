//! Origins of a text that was generated from other files.

/// Place in a file, for messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OriginPlace {
    /// Index of the file among those of the origins.
    pub file: u32,
    /// Line, from 1; 0 for the file as a whole.
    pub line: u32,
    /// Column, from 1; 0 for the file as a whole.
    pub column: u32,
}

/// Places in other files from which the parts of a text were generated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextOrigins {
    /// Names of the files, for messages.
    pub files: Vec<String>,
    /// Offsets of the parts in ascending order, each with its origin.
    pub parts: Vec<(usize, OriginPlace)>,
}

impl TextOrigins {
    /// Returns the file and the place from which an offset was generated.
    pub fn at(&self, offset: usize) -> Option<(&str, u32, u32)> {
        let after = self.parts.partition_point(|(start, _)| *start <= offset);
        let (_, place) = self.parts.get(after.checked_sub(1)?)?;
        let file = self.files.get(place.file as usize)?;
        Some((file, place.line, place.column))
    }
}
