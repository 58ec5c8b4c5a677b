//! Values of properties of the scene tree.

use super::msgpack::Writer;

/// A property value for [`Meshcat::set_property`](crate::Meshcat::set_property), made from a
/// `bool`, a number, numbers or a string by `into()`.
///
/// ```
/// use tarragon_visualization::PropertyValue;
/// assert_eq!(PropertyValue::from(true), PropertyValue::Bool(true));
/// assert_eq!(PropertyValue::from([1.0, 0.0, 0.0]), PropertyValue::Numbers(vec![1.0, 0.0, 0.0]));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PropertyValue {
    /// A boolean, such as `visible`.
    Bool(bool),
    /// A number, such as `intensity`.
    Number(f64),
    /// Numbers, such as `position` or `top_color`.
    Numbers(Vec<f64>),
    /// A text, such as the URL of an environment map.
    Text(String),
}

impl PropertyValue {
    pub(crate) fn encode(&self, w: &mut Writer) {
        match self {
            Self::Bool(x) => w.bool(*x),
            Self::Number(x) => w.f64(*x),
            Self::Numbers(xs) => w.f64s(xs),
            Self::Text(s) => w.str(s),
        };
    }
    /// Returns the name of the type for error messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Numbers(_) => "vector",
            Self::Text(_) => "text",
        }
    }
}

impl From<bool> for PropertyValue {
    fn from(x: bool) -> Self {
        Self::Bool(x)
    }
}
impl From<f64> for PropertyValue {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}
impl From<Vec<f64>> for PropertyValue {
    fn from(xs: Vec<f64>) -> Self {
        Self::Numbers(xs)
    }
}
impl From<&[f64]> for PropertyValue {
    fn from(xs: &[f64]) -> Self {
        Self::Numbers(xs.into())
    }
}
impl<const N: usize> From<[f64; N]> for PropertyValue {
    fn from(xs: [f64; N]) -> Self {
        Self::Numbers(xs.into())
    }
}
impl From<&str> for PropertyValue {
    fn from(s: &str) -> Self {
        Self::Text(s.into())
    }
}
impl From<String> for PropertyValue {
    fn from(s: String) -> Self {
        Self::Text(s)
    }
}
