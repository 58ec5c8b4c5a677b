//! Configurations of deformable geometry at one time.

use crate::deformable::{CurrentShape, DeformableForm};
use crate::error::{Error, Result};
use crate::ids::SourceId;
use crate::render::RenderEngine;
use crate::scene::configurations::GeometryConfigurationVector;
use crate::scene::model::GeometryState;
use nalgebra::{DVector, Vector3};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;
use tarragon_framework::counted;

/// The deformable geometries of a scene with their configurations.
pub(crate) struct Deformables<T: Scalar> {
    geometries: Vec<ConfiguredGeometry<T>>,
    has_skins: bool,
    /// Engines that show deformable geometry and skins, by name, in this configuration.
    pub(super) engines: OnceLock<BTreeMap<String, Arc<dyn RenderEngine>>>,
}

/// One deformable geometry.
pub(crate) struct ConfiguredGeometry<T: Scalar> {
    /// Number of the geometry.
    pub(crate) number: usize,
    source: SourceId,
    pub(crate) form: Arc<DeformableForm>,
    /// Coordinates of all vertices (m).
    pub(crate) configuration: DVector<T>,
    shape: OnceLock<CurrentShape>,
}

impl<T: Scalar> Deformables<T> {
    /// Creates the deformable geometries of a scene, whose configurations are not known yet.
    pub(super) fn new(state: &GeometryState) -> Self {
        let all = state.geometries.iter().enumerate();
        let deformable = all.filter_map(|(number, g)| {
            Some(ConfiguredGeometry {
                number,
                source: g.source,
                form: g.deformable.clone()?,
                configuration: DVector::zeros(0),
                shape: OnceLock::new(),
            })
        });
        Self {
            geometries: deformable.collect(),
            has_skins: state.geometries.iter().any(|g| g.skin.is_some()),
            engines: OnceLock::new(),
        }
    }

    /// Creates storage for the same geometries in another configuration.
    pub(super) fn successor(&self) -> Self {
        let same = self.geometries.iter().map(|g| ConfiguredGeometry {
            number: g.number,
            source: g.source,
            form: g.form.clone(),
            configuration: DVector::zeros(0),
            shape: OnceLock::new(),
        });
        Self {
            geometries: same.collect(),
            has_skins: self.has_skins,
            engines: OnceLock::new(),
        }
    }

    /// Forgets what was made for the last configuration.
    pub(super) fn begin(&mut self) {
        self.engines = OnceLock::new();
        for geometry in &mut self.geometries {
            geometry.shape = OnceLock::new();
        }
    }

    /// Returns true if a source has deformable geometry.
    pub(super) fn has_source(&self, source: SourceId) -> bool {
        self.geometries.iter().any(|g| g.source == source)
    }

    /// Sets the configurations of the geometries of a source, given by its index; extra ones are
    /// ignored.
    pub(super) fn configure(
        &mut self,
        state: &GeometryState,
        source: usize,
        given: Option<&GeometryConfigurationVector<T>>,
    ) -> Result<()> {
        let source = &state.sources[source];
        for geometry in self.geometries.iter_mut().filter(|g| g.source == source.id) {
            let registered = &state.geometries[geometry.number];
            let wrong = |what: String| {
                Err(Error::invalid(format!(
                    "geometry '{}' of source '{}': {what}",
                    registered.name, source.name
                )))
            };
            let Some(given) = given else {
                return wrong(format!(
                    "deformable geometry must have a configuration, but the input port \
                     '{}_configuration' is not connected; connect or fix it",
                    source.name
                ));
            };
            let Some(value) = given.value(registered.id) else {
                return wrong(format!(
                    "deformable geometry must have a configuration, but the value of the input port \
                     '{}_configuration' has none for it; set one for each deformable geometry",
                    source.name
                ));
            };
            let count = geometry.form.local_mesh().num_vertices();
            if value.len() != 3 * count {
                return wrong(format!(
                    "the configuration must have {coordinates}, three for each of the {vertices} of its reference mesh, got {}",
                    value.len(),
                    coordinates = counted(3 * count, "coordinate"),
                    vertices = counted(count, "vertex")
                ));
            }
            if let Some(at) = value.iter().position(|x| !x.re().is_finite()) {
                return wrong(format!(
                    "the configuration must be finite, got {:?} m for coordinate {} of vertex {}",
                    value[at].re(),
                    ['x', 'y', 'z'][at % 3],
                    at / 3
                ));
            }
            geometry.configuration.clone_from(value);
        }
        Ok(())
    }

    /// Returns true if the scene has skins, whose vertices the poses of frames determine.
    pub(crate) fn has_skins(&self) -> bool {
        self.has_skins
    }

    /// Returns all deformable geometries, in order of registration.
    pub(crate) fn geometries(&self) -> &[ConfiguredGeometry<T>] {
        &self.geometries
    }

    /// Returns the geometry with a number, if it is deformable.
    pub(crate) fn get(&self, number: usize) -> Option<&ConfiguredGeometry<T>> {
        let found = self.geometries.binary_search_by_key(&number, |g| g.number);
        found.ok().map(|k| &self.geometries[k])
    }
}

impl<T: Scalar> ConfiguredGeometry<T> {
    /// Returns the current shape, without derivatives.
    pub(crate) fn shape(&self) -> &CurrentShape {
        self.shape.get_or_init(|| {
            let vertices = self.configuration.as_slice().chunks_exact(3);
            let vertices = vertices.map(|p| Vector3::new(p[0].re(), p[1].re(), p[2].re()));
            CurrentShape::new((*self.form).clone(), vertices.collect())
        })
    }

    /// Returns the current shape for a query whose results have derivatives.
    ///
    /// # Errors
    /// Returns an error if the configuration has derivatives, which are not supported.
    pub(crate) fn constant_shape(&self, query: &str) -> Result<&CurrentShape> {
        if T::NDERIV > 0 && !self.configuration.iter().all(is_constant) {
            return Err(Error::unsupported(format!(
                "{query}: the configuration of deformable geometry must not have derivatives; \
                 use a configuration of constants"
            )));
        }
        Ok(self.shape())
    }
}
