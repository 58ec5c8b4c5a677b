//! YAML with positions in its errors.

use serde::de::DeserializeOwned;
use serde_saphyr::options;

/// Error in a YAML text: line and column (0 if unknown) and message.
pub(crate) struct YamlError {
    pub(crate) place: (u32, u32),
    pub(crate) message: String,
}

/// Reads a YAML text.
pub(crate) fn read_yaml<V: DeserializeOwned>(text: &str) -> Result<V, YamlError> {
    let options = options! { with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let place = error
            .location()
            .map_or((0, 0), |at| (at.line(), at.column()));
        let (line, column) = place;
        let message = error.to_string();
        let suffix = format!(" at line {line}, column {column}");
        let message = message.strip_suffix(&suffix).unwrap_or(&message);
        YamlError {
            place: (line as u32, column as u32),
            message: message.into(),
        }
    })
}
