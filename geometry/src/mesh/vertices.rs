//! Vertex operations common to all meshes.

use crate::error::{Error, Result};
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// Returns the centre and size of the box around the vertices.
pub(super) fn bounding_box<T: Scalar>(vertices: &[Vector3<T>]) -> (Vector3<T>, Vector3<T>) {
    let mut all = vertices.iter();
    let Some(first) = all.next() else {
        let zero = Vector3::from_element(T::from(0.0));
        return (zero, zero);
    };
    let (mut low, mut high) = (*first, *first);
    for v in all {
        for k in 0..3 {
            // Compare values only; a component keeps the derivatives of its vertex.
            if v[k].re() < low[k].re() {
                low[k] = v[k];
            }
            if v[k].re() > high[k].re() {
                high[k] = v[k];
            }
        }
    }
    ((low + high) * T::from(0.5), high - low)
}

/// Checks the vertex indices of elements.
pub(super) fn check_indices<'a>(
    kind: &str,
    element: &str,
    count: usize,
    elements: impl Iterator<Item = &'a [u32]>,
) -> Result<()> {
    let mut any = false;
    for (e, vertices) in elements.enumerate() {
        any = true;
        if let Some(wrong) = vertices.iter().find(|v| **v as usize >= count) {
            return Err(Error::invalid(format!(
                "{kind}: vertex indices of {element} {e} must be below {count}, got {wrong}"
            )));
        }
    }
    if any {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "{kind}: the mesh must have at least one {element}, got none"
        )))
    }
}

/// Expresses the vertices in frame N, given the pose of their frame M in N.
pub(super) fn transform<T: Scalar>(vertices: &mut [Vector3<T>], x_nm: &Isometry3<T>) {
    for p in vertices {
        *p = x_nm.rotation * *p + x_nm.translation.vector;
    }
}

/// Tests exact equality of values; as for scalars, derivatives are not compared. NaN is equal to
/// nothing.
pub(super) fn same<T: Scalar>(a: &[Vector3<T>], b: &[Vector3<T>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}
