//! Numbers in the output.

use nalgebra::Vector3;
use serde::{Serialize, Serializer};
use tarragon::framework::DiagramScalar;
use tarragon::prelude::*;

/// Number of derivatives: by the position and the orientation of the first geometry.
const DIRECTIONS: usize = 6;

/// A double as JSON: a finite one reads back to the same bits, others are strings.
#[derive(Clone, Copy)]
pub(super) struct Double(pub(super) f64);

impl Serialize for Double {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() => serializer.serialize_f64(x),
            x if x.is_nan() => serializer.serialize_str("nan"),
            x if x > 0.0 => serializer.serialize_str("inf"),
            _ => serializer.serialize_str("-inf"),
        }
    }
}

/// A dual number as JSON.
#[derive(Clone, Copy, Serialize)]
pub(super) struct WithDerivatives {
    v: Double,
    d: [Double; DIRECTIONS],
}

/// A scalar that can be written as JSON.
pub(super) trait Number: DiagramScalar {
    type Json: Serialize;
    fn json(self) -> Self::Json;
    fn vector(v: &Vector3<Self>) -> [Self::Json; 3] {
        [v.x.json(), v.y.json(), v.z.json()]
    }
}

impl Number for f64 {
    type Json = Double;
    fn json(self) -> Double {
        Double(self)
    }
}

impl Number for AutoDiff {
    type Json = WithDerivatives;
    fn json(self) -> WithDerivatives {
        WithDerivatives {
            v: Double(self.re),
            d: std::array::from_fn(|i| Double(self.eps[i])),
        }
    }
}
