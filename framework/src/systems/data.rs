//! The values of a diagram: flat arrays of state, parameters and fixed inputs, and the cache.

use super::storage::Cache;
use super::value::Stored;
use crate::Scalar;

#[derive(Clone)]
pub(crate) struct Data<T: Scalar> {
    pub(crate) time: T,
    pub(crate) accuracy: Option<f64>,
    pub(crate) xc: Vec<T>,
    pub(crate) xd: Vec<T>,
    pub(crate) xa: Vec<Stored<T>>,
    pub(crate) parameters: Vec<Stored<T>>,
    pub(crate) fixed: Vec<Option<Stored<T>>>,
    pub(crate) cache: Cache<T>,
}

/// Copy of a diagram's state, outside of any context.
pub(crate) struct StateCopy<T> {
    pub(crate) xc: Vec<T>,
    pub(crate) xd: Vec<T>,
    pub(crate) xa: Vec<Stored<T>>,
}

impl<T> Default for StateCopy<T> {
    fn default() -> Self {
        Self {
            xc: vec![],
            xd: vec![],
            xa: vec![],
        }
    }
}

impl<T: Scalar> StateCopy<T> {
    /// Resizes this copy to the state of a context.
    pub(crate) fn fit(&mut self, data: &Data<T>) {
        self.xc.resize(data.xc.len(), T::zero());
        self.xd.resize(data.xd.len(), T::zero());
        if self.xa.len() != data.xa.len() {
            self.xa = data.xa.clone();
        }
    }
}
