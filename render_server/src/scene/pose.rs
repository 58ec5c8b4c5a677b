//! Poses of nodes, whose transformations may also scale, shear and mirror.

use nalgebra::{Isometry3, Matrix3, Matrix4, Rotation3, Translation3, UnitQuaternion};

/// Deviation from a rotation below which a transformation is one: Drake's matrices are rounded to
/// double precision, those of other programs to single precision.
const RIGID: f64 = 1e-6;
/// Steps in which scales are compared, relative to the largest: scales of one mesh in two scenes
/// differ by rounding only.
const STEPS: f64 = 1e9;

/// A transformation as a pose after a stretch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    pub(super) pose: Isometry3<f64>,
    /// Upper triangular matrix that is applied before the pose; `None` for the identity.
    pub(super) stretch: Option<Matrix3<f64>>,
}

impl Placement {
    /// Splits a matrix, so that scenes that move a mesh have the same stretch.
    pub(super) fn of(matrix: &Matrix4<f64>) -> Self {
        let linear = matrix.fixed_view::<3, 3>(0, 0).into_owned();
        let translation = Translation3::from(matrix.fixed_view::<3, 1>(0, 3).into_owned());
        if let Some(rotation) = rotation(&linear) {
            let pose = Isometry3::from_parts(translation, rotation);
            return Self {
                pose,
                stretch: None,
            };
        }
        let (rotation, stretch) = orthogonal(&linear)
            .map_or((UnitQuaternion::identity(), linear), |q| {
                (q, q.to_rotation_matrix().inverse() * linear)
            });
        Self {
            pose: Isometry3::from_parts(translation, rotation),
            stretch: Some(stretch),
        }
    }
    /// Returns numbers that are equal for equal stretches.
    pub(super) fn stretch_key(&self) -> Option<[i64; 10]> {
        let stretch = self.stretch?;
        // A power of two, so that rounding of the largest entry rarely changes it.
        let unit = stretch.amax().log2().ceil().clamp(-1000.0, 1000.0);
        let mut key = [0; 10];
        key[9] = unit as i64;
        for (k, x) in key.iter_mut().zip(stretch.iter()) {
            *k = (x / unit.exp2() * STEPS).round() as i64;
        }
        Some(key)
    }
}

/// Returns the rotation that a matrix is, if it is one.
fn rotation(linear: &Matrix3<f64>) -> Option<UnitQuaternion<f64>> {
    let off = (linear.transpose() * linear - Matrix3::identity()).amax();
    (off < RIGID && linear.determinant() > 0.0).then(|| {
        let rotation = Rotation3::from_matrix_eps(linear, 1e-15, 100, Rotation3::identity());
        UnitQuaternion::from_rotation_matrix(&rotation)
    })
}

/// Returns the rotation of the Gram-Schmidt process, `None` if the matrix is singular.
fn orthogonal(linear: &Matrix3<f64>) -> Option<UnitQuaternion<f64>> {
    let column = |k: usize| linear.column(k).into_owned();
    let x = column(0).try_normalize(f64::MIN_POSITIVE)?;
    let y = column(1) - x * x.dot(&column(1));
    let y = y.try_normalize(f64::MIN_POSITIVE)?;
    let basis = Matrix3::from_columns(&[x, y, x.cross(&y)]);
    Some(UnitQuaternion::from_rotation_matrix(
        &Rotation3::from_matrix_unchecked(basis),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::document::affine;
    use nalgebra::Vector3;
    use proptest::prelude::*;
    use tarragon_framework::math::rotation_exp;

    /// Returns pose and stretch as one matrix.
    fn matrix_of(placement: &Placement) -> Matrix4<f64> {
        let stretch = placement.stretch.unwrap_or_else(Matrix3::identity);
        placement.pose.to_homogeneous() * affine(&stretch, &Vector3::zeros())
    }

    fn turn(v: &Vector3<f64>) -> Matrix3<f64> {
        rotation_exp(v).to_rotation_matrix().into_inner()
    }

    fn vector() -> impl Strategy<Value = Vector3<f64>> {
        prop::array::uniform3(-3.0..3.0).prop_map(Vector3::from)
    }

    proptest! {
        #[test]
        fn placements_compose_to_the_matrix(
            angle in vector(), offset in vector(), scale in vector(), shear in -1.0..1.0,
        ) {
            prop_assume!(scale.iter().all(|s: &f64| s.abs() > 1e-2));
            let mut stretch = Matrix3::from_diagonal(&scale);
            stretch[(0, 1)] = shear;
            let linear = turn(&angle) * stretch;
            let matrix = affine(&linear, &offset);
            let placement = Placement::of(&matrix);
            prop_assert!((matrix_of(&placement) - matrix).amax() < 1e-12);
            // The stretch does not depend on the pose.
            let turned = affine(&(turn(&offset) * linear), &angle);
            prop_assert_eq!(placement.stretch_key(), Placement::of(&turned).stretch_key());
        }
        #[test]
        fn rotations_have_no_stretch(angle in vector(), offset in vector()) {
            let matrix = affine(&turn(&angle), &offset);
            let placement = Placement::of(&matrix);
            prop_assert!(placement.stretch.is_none());
            prop_assert!((matrix_of(&placement) - matrix).amax() < 1e-14);
        }
    }

    #[test]
    fn mirrors_and_singular_matrices_are_stretches() {
        for diagonal in [[-1.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0; 3]] {
            let linear = Matrix3::from_diagonal(&Vector3::from(diagonal));
            let matrix = affine(&linear, &Vector3::zeros());
            let placement = Placement::of(&matrix);
            assert!((matrix_of(&placement) - matrix).amax() < 1e-15);
            assert!(placement.stretch_key().is_some());
        }
    }
}
