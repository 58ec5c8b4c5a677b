//! Serialization of [`Dual`] as the pair `(re, [eps...])`.

use super::Dual;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl<const N: usize> Serialize for Dual<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.re, self.eps.as_slice()).serialize(serializer)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Dual<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (re, eps) = <(f64, Vec<f64>)>::deserialize(deserializer)?;
        let found = eps.len();
        let eps = eps.try_into().map_err(|_| {
            D::Error::custom(format!(
                "a dual number must have {N} derivatives, got {found}"
            ))
        })?;
        Ok(Self { re, eps })
    }
}
