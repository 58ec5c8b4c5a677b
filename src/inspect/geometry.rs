//! The geometries of a model as JSON.

use super::report::{Inspected, number, numbers, pose};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;
use tarragon::geometry::{
    CoulombFriction, GeometryId, GeometryProperties, HydroelasticType, MeshSource, PropertyValue,
    RenderLabel, Role, Shape,
};
use tarragon::prelude::*;

impl Inspected {
    /// All geometries, in order of registration.
    pub(super) fn geometries(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        let inspector = self.scene.model_inspector();
        let mut geometries = vec![];
        for id in inspector.geometry_ids() {
            let frame = inspector.frame_id(id)?;
            let body = self.plant.body_from_frame_id(frame);
            let body = body.ok_or("a geometry is on a frame that does not belong to a body")?;
            let mut found = json!({
                "name": inspector.name(id)?,
                "body": self.body_name(body)?,
                "shape": shape(inspector.shape(id)?),
                "X_FG": pose(inspector.pose_in_frame(id)?),
            });
            let mut roles = vec![];
            for (role, name) in [
                (Role::Proximity, "proximity"),
                (Role::Illustration, "illustration"),
                (Role::Perception, "perception"),
            ] {
                if let Some(properties) = inspector.properties(id, role)? {
                    roles.push(name);
                    found[name] = describe(properties);
                }
            }
            if inspector.is_deformable(id)? {
                found["deformable"] = true.into();
            }
            if let Some(skin) = inspector.skin(id)? {
                found["num_bones"] = skin.bones().len().into();
            }
            if let Some(pieces) = inspector.convex_pieces(id)? {
                found["num_convex_pieces"] = pieces.len().into();
            }
            found["roles"] = roles.into();
            share(&mut found);
            geometries.push(found);
        }
        Ok(geometries)
    }

    /// Numbers of geometries for proximity, illustration and perception.
    pub(super) fn num_geometries_by_role(&self) -> [usize; 3] {
        let inspector = self.scene.model_inspector();
        [Role::Proximity, Role::Illustration, Role::Perception]
            .map(|role| inspector.num_geometries_with_role(role))
    }

    /// Index of every geometry in order of registration.
    pub(super) fn places(&self) -> BTreeMap<GeometryId, usize> {
        let ids = self.scene.model_inspector().geometry_ids();
        ids.enumerate().map(|(i, id)| (id, i)).collect()
    }

    /// Pairs of geometries that may collide, as sorted indices.
    pub(super) fn collision_candidates(&self) -> Result<Vec<[usize; 2]>, Box<dyn Error>> {
        let places = self.places();
        let place = |id| {
            places
                .get(&id)
                .copied()
                .ok_or("a collision candidate is not a geometry")
        };
        let mut pairs = vec![];
        for (a, b) in self.scene.model_inspector().collision_candidates() {
            let (a, b) = (place(a)?, place(b)?);
            pairs.push([a.min(b), a.max(b)]);
        }
        pairs.sort_unstable();
        Ok(pairs)
    }
}

/// Marks a perception role that only repeats the illustration role.
fn share(geometry: &mut Value) {
    let Some(perception) = geometry["perception"].as_object() else {
        return;
    };
    let mut same = perception.clone();
    let label = same.remove("label");
    if geometry["illustration"].as_object() == Some(&same) {
        geometry["perception"] = json!({ "same_as_illustration": true, "label": label });
    }
}

fn shape(shape: &Shape) -> Value {
    let mut found = json!({ "type": shape.type_name() });
    let mut set = |name: &str, value: Value| found[name] = value;
    match shape {
        Shape::Box(s) => set("size", numbers(&s.size())),
        Shape::Capsule(s) => {
            set("radius", number(s.radius()));
            set("length", number(s.length()));
        }
        Shape::Cylinder(s) => {
            set("radius", number(s.radius()));
            set("length", number(s.length()));
        }
        Shape::Ellipsoid(s) => set("abc", numbers(&s.semi_axes())),
        Shape::Sphere(s) => set("radius", number(s.radius())),
        Shape::HeightField(s) => {
            let (low, high) = s.height_range();
            set("rows", s.rows().into());
            set("columns", s.columns().into());
            set("size", s.size().map(number).to_vec().into());
            set("height_range", [low, high].map(number).to_vec().into());
            set("base", number(s.base()));
        }
        Shape::Mesh(s) => mesh(&mut set, s.source(), &s.scale3()),
        Shape::Convex(s) => mesh(&mut set, s.source(), &s.scale3()),
        _ => {}
    }
    found
}

fn mesh(set: &mut impl FnMut(&str, Value), source: &MeshSource, scale: &Vector3<f64>) {
    set("scale3", numbers(scale));
    if let Some(path) = source.path() {
        let suffix = path
            .extension()
            .map(|s| format!(".{}", s.to_string_lossy().to_lowercase()));
        set("extension", suffix.into());
        set("file", path.display().to_string().into());
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        set("basename", name.into());
    }
}

fn describe(properties: &GeometryProperties) -> Value {
    // Drake has this group without properties in every role.
    let mut groups = Map::from_iter([("__default__".to_string(), json!({}))]);
    for group in properties.group_names() {
        let mut found = Map::new();
        for (name, value) in properties.properties_in_group(group).into_iter().flatten() {
            found.insert(name.into(), property(value));
        }
        groups.insert(group.into(), Value::Object(found));
    }
    Value::Object(groups)
}

fn property(value: &PropertyValue) -> Value {
    if let Some(x) = value.downcast_ref::<f64>() {
        number(*x)
    } else if let Some(c) = value.downcast_ref::<Rgba>() {
        json!({ "rgba": numbers(&c.rgba()) })
    } else if let Some(label) = value.downcast_ref::<RenderLabel>() {
        format!("{label:?}").into()
    } else if let Some(mu) = value.downcast_ref::<CoulombFriction>() {
        json!({ "mu_static": mu.static_friction(), "mu_dynamic": mu.dynamic_friction() })
    } else if let Some(kind) = value.downcast_ref::<HydroelasticType>() {
        format!("{kind:?}").to_lowercase().into()
    } else if let Some(path) = value.downcast_ref::<PathBuf>() {
        path.display().to_string().into()
    } else if let Some(text) = value.downcast_ref::<String>() {
        text.as_str().into()
    } else if let Some(names) = value.downcast_ref::<BTreeSet<String>>() {
        names.iter().map(String::as_str).collect()
    } else if let Some(count) = value.downcast_ref::<usize>() {
        (*count).into()
    } else if let Some(flag) = value.downcast_ref::<bool>() {
        (*flag).into()
    } else {
        json!({ "opaque": value.type_name() })
    }
}
