//! Fields that the lines about deformable bodies share.

use super::fields::{Fields, array, number, wrong};
use super::scene::{MeshFiles, pose, shape_at};
use nalgebra::{Isometry3, Vector3};
use serde_json::Value;
use tarragon::fem::{DeformableBodyConfig, MaterialModel};
use tarragon::geometry::{CoulombFriction, Shape};
use tarragon::prelude::*;

/// Friction of a body if the line gives none.
const FRICTION: f64 = 0.5;
/// Stiffness of contact points (N/m), which deformable bodies do not use.
const POINT_STIFFNESS: f64 = 1e6;

impl Fields {
    /// Takes an optional number.
    pub(super) fn optional_number(&mut self, key: &'static str) -> Result<Option<f64>, String> {
        let value = self.optional(key);
        let path = self.path(key);
        value.map(|value| number(&value, &path)).transpose()
    }

    /// Takes an optional number for which a condition, described in words, holds.
    pub(super) fn number_that(
        &mut self,
        key: &'static str,
        default: f64,
        condition: &str,
        holds: impl Fn(f64) -> bool,
    ) -> Result<f64, String> {
        let value = self.optional_number(key)?.unwrap_or(default);
        if holds(value) {
            Ok(value)
        } else {
            Err(format!(
                "{} must be {condition}, got {value:?}",
                self.path(key)
            ))
        }
    }

    /// Takes an optional truth value, false by default.
    pub(super) fn flag(&mut self, key: &'static str) -> Result<bool, String> {
        match self.optional(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(wrong(&self.path(key), "true or false", &other)),
        }
    }

    /// Takes an optional array of objects or arrays.
    pub(super) fn list(&mut self, key: &'static str) -> Result<Vec<Value>, String> {
        match self.optional(key) {
            None => Ok(vec![]),
            Some(value) => array(value, &self.path(key)),
        }
    }

    /// Takes a required pose.
    pub(super) fn pose(&mut self, key: &'static str) -> Result<Isometry3<f64>, String> {
        let numbers = self.numbers(key)?;
        pose(numbers).ok_or_else(|| {
            format!(
                "{}: the first four numbers are the quaternion w, x, y, z, which must not be zero",
                self.path(key)
            )
        })
    }

    /// Takes a required shape.
    pub(super) fn shape(&mut self, key: &'static str, meshes: &MeshFiles) -> Result<Shape, String> {
        let value = self.required(key)?;
        shape_at(value, self.path(key), meshes)
    }

    /// Takes an optional array of points, three numbers each.
    pub(super) fn points(
        &mut self,
        key: &'static str,
    ) -> Result<Option<Vec<Vector3<f64>>>, String> {
        let Some(value) = self.optional(key) else {
            return Ok(None);
        };
        let path = self.path(key);
        let expected = "an array of coordinates, three for each point";
        let shown = wrong(&path, expected, &value);
        let items = array(value, &path)?;
        if items.len() % 3 != 0 {
            return Err(shown);
        }
        let items = items.iter().enumerate();
        let numbers = items.map(|(i, item)| number(item, &format!("{path}[{i}]")));
        let numbers = numbers.collect::<Result<Vec<f64>, _>>()?;
        let (points, _) = numbers.as_chunks::<3>();
        Ok(Some(points.iter().map(|p| Vector3::from(*p)).collect()))
    }

    /// Takes an optional friction coefficient; returns the properties of contacts.
    pub(super) fn contact(&mut self, key: &'static str) -> Result<ProximityProperties, String> {
        let mu = self.number_that(key, FRICTION, "at least 0", |mu| mu >= 0.0)?;
        let path = self.path(key);
        let of = |mu| {
            ProximityProperties::new()
                .with_friction(CoulombFriction::new(mu, mu)?)
                .with_dissipation(0.0)?
                .with_point_stiffness(POINT_STIFFNESS)
        };
        of(mu).map_err(|e: Error| format!("{path}: {e}"))
    }

    /// Takes a required material.
    pub(super) fn material(&mut self, key: &'static str) -> Result<DeformableBodyConfig, String> {
        let path = self.path(key);
        let value = self.required(key)?;
        let mut fields = Self::new(value, &path, format!("{path}."))?;
        let usual = DeformableBodyConfig::default();
        let positive = |x: f64| x > 0.0;
        let not_negative = |x: f64| x >= 0.0;
        let config = DeformableBodyConfig {
            material_model: match fields.optional("model") {
                None => usual.material_model,
                Some(model) => match model.as_str() {
                    Some("linear") => MaterialModel::Linear,
                    Some("linear_corotated") => MaterialModel::LinearCorotated,
                    Some("corotated") => MaterialModel::Corotated,
                    Some("neo_hookean") => MaterialModel::NeoHookean,
                    _ => {
                        let known = "\"linear\", \"linear_corotated\", \"corotated\" or \
                                     \"neo_hookean\"";
                        return Err(wrong(&fields.path("model"), known, &model));
                    }
                },
            },
            youngs_modulus: fields.number_that(
                "youngs_modulus",
                usual.youngs_modulus,
                "positive (Pa)",
                positive,
            )?,
            poissons_ratio: fields.number_that(
                "poissons_ratio",
                usual.poissons_ratio,
                "greater than -1 and less than 0.5",
                |x| x > -1.0 && x < 0.5,
            )?,
            mass_density: fields.number_that(
                "mass_density",
                usual.mass_density,
                "positive (kg/m³)",
                positive,
            )?,
            mass_damping_coefficient: fields.number_that(
                "mass_damping",
                usual.mass_damping_coefficient,
                "at least 0 (1/s)",
                not_negative,
            )?,
            stiffness_damping_coefficient: fields.number_that(
                "stiffness_damping",
                usual.stiffness_damping_coefficient,
                "at least 0 (s)",
                not_negative,
            )?,
            element_subdivision_count: fields.number_that(
                "subdivisions",
                0.0,
                "an integer from 0 to 4",
                |x| [0.0, 1.0, 2.0, 3.0, 4.0].contains(&x),
            )? as u32,
            ..usual
        };
        fields.finish()?;
        config.check(&path).map_err(|e| e.to_string())?;
        Ok(config)
    }
}
