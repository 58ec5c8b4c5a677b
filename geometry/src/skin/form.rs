//! The data that a skin adds to a registered geometry.

use super::Skin;
use crate::error::{Error, Result};
use crate::mesh::{self, RenderMesh};
use crate::shape::Shape;
use crate::values::{lift_pose, shown_pose};
use nalgebra::{Isometry3, Vector3};
use std::sync::Arc;
use tarragon_framework::{Scalar, math};

/// A surface that frames drive.
#[derive(Clone, Debug)]
pub(crate) struct SkinForm {
    /// With the vertices at their reference positions, in the world, not inflated.
    pub(crate) mesh: Arc<RenderMesh>,
    pub(crate) skin: Skin,
    /// Numbers of the frames of the bones.
    frames: Vec<usize>,
    /// Sums of the weights of each vertex.
    sums: Vec<f64>,
}

impl SkinForm {
    /// Makes the form of a shape at a pose in the world, given the numbers of the frames of the
    /// bones.
    ///
    /// # Errors
    /// Returns an error if the shape is not a mesh, if its file cannot be read, or if a bone has a
    /// pose that is not finite, or a vertex that does not exist. Also returns an
    /// error if a weight is negative or not finite, or if a vertex has no weight.
    pub(crate) fn new(
        shape: &Shape,
        x_wg: &Isometry3<f64>,
        skin: Skin,
        frames: Vec<usize>,
    ) -> Result<Self> {
        let Shape::Mesh(file) = shape else {
            return Err(Error::invalid(format!(
                "the shape of a skin must be a Mesh, got {}",
                shape.type_name()
            )));
        };
        let mesh = mesh::read_source(file.source())?;
        let mesh = mesh.scaled(&file.scale3()).posed(x_wg);
        let count = mesh.positions.len();
        let mut sums = vec![0.0; count];
        for (b, bone) in skin.bones.iter().enumerate() {
            let wrong = |what: String| Err(Error::invalid(format!("bone {b} {what}")));
            let x = &bone.x_wf;
            let mut numbers = x.translation.vector.iter().chain(x.rotation.coords.iter());
            if !numbers.all(|x| x.is_finite()) {
                let shown = shown_pose(x);
                return wrong(format!("must have a finite pose, got {shown}"));
            }
            for (v, weight) in &bone.weights {
                let Some(sum) = sums.get_mut(*v as usize) else {
                    return wrong(format!(
                        "must have vertices below {count}, the number of those of the mesh, got {v}"
                    ));
                };
                if !(weight.is_finite() && *weight >= 0.0) {
                    return wrong(format!(
                        "must have weights of at least 0, got {weight:?} for vertex {v}"
                    ));
                }
                *sum += weight;
            }
        }
        if let Some(v) = sums.iter().position(|sum| !(*sum > 0.0 && sum.is_finite())) {
            return Err(Error::invalid(format!(
                "vertex {v} of the skin must have a positive finite sum of weights, got {:?}; give \
                 every vertex a bone",
                sums[v]
            )));
        }
        Ok(Self {
            mesh: Arc::new(mesh),
            skin,
            frames,
            sums,
        })
    }

    /// Returns the vertices (m) in the world, given the poses `X_WF` of frames by number.
    pub(crate) fn positions<T: Scalar>(
        &self,
        x_wf: impl Fn(usize) -> Isometry3<T>,
    ) -> Vec<Vector3<T>> {
        let zero = Vector3::from_element(T::zero());
        let mut positions = vec![zero; self.mesh.positions.len()];
        for (bone, frame) in self.skin.bones.iter().zip(&self.frames) {
            let moved = x_wf(*frame) * lift_pose::<T>(&bone.x_wf.inverse());
            let turn = moved.rotation.to_rotation_matrix().into_inner();
            for (v, weight) in &bone.weights {
                let v = *v as usize;
                let p = self.mesh.positions[v].coords.map(T::from);
                let part = T::from(weight / self.sums[v]);
                positions[v] += (turn * p + moved.translation.vector) * part;
            }
        }
        if self.skin.inflation != 0.0 {
            self.inflate(&mut positions);
        }
        positions
    }

    /// Moves vertices along the mean normals of their triangles, weighted by area.
    fn inflate<T: Scalar>(&self, positions: &mut [Vector3<T>]) {
        let zero = Vector3::from_element(T::zero());
        let mut sums = vec![zero; positions.len()];
        for corners in &self.mesh.triangles {
            let [a, b, c] = corners.map(|v| positions[v as usize]);
            let area = (b - a).cross(&(c - a));
            for v in corners {
                sums[*v as usize] += area;
            }
        }
        for (p, sum) in positions.iter_mut().zip(sums) {
            let length = math::safe_norm(&sum);
            if length.re() > 0.0 {
                *p += sum * (T::from(self.skin.inflation) / length);
            }
        }
    }
}
