//! Meshes that MuJoCo's signed-distance plugins make (`<mesh><plugin plugin="mujoco.sdf.torus"/>`).
//!
//! MuJoCo samples the distance function of the plugin on a grid and takes the surface that marching
//! cubes find. Grid, single precision and surface are the same here, so that masses agree to
//! rounding.

mod combine;
mod distance;
mod gear;
mod marching_cubes;

use super::obj_text::to_obj;
use super::tree::ElementRef;
use distance::DistanceFunction;
use marching_cubes::SampledField;
use nalgebra::Vector3;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::MeshSource;

/// Sum of the numbers of grid points along the three axes, nearly.
const GRID_POINTS: f64 = 300.0;

/// A plugin of `<extension>`, or one within an element.
struct PluginConfig<'a> {
    name: &'a str,
    /// Element with the `<config>` elements.
    node: ElementRef<'a>,
}

/// Warns about the plugins of an `<extension>` that are unsupported.
pub(super) fn check_extension(extension: ElementRef<'_>) {
    for plugin in extension.children_named("plugin") {
        let name = plugin.own_text("plugin").unwrap_or_default();
        if distance::named(name).is_none() {
            plugin.ignored(&format!("plugin '{name}' is not supported"));
        }
    }
}

/// Returns the mesh of the `<plugin>` of a `<mesh>`; `None` if the plugin is unknown, which is
/// reported.
pub(super) fn read(
    node: ElementRef<'_>,
    plugin: ElementRef<'_>,
    name: &str,
) -> Parsed<Option<MeshSource>> {
    let config = find_config(plugin)?;
    let Some(defaults) = distance::named(config.name) else {
        let names = distance::NAMES.join(", ");
        plugin.warning(format!(
            "mesh '{name}' is left out: plugin '{}' is not supported; the supported ones are {names}",
            config.name
        ));
        return Ok(None);
    };
    let scale = node.vector::<3>("scale")?.unwrap_or([1.0; 3]);
    if scale != [1.0; 3] {
        let message = format!(
            "mesh '{name}': scale of the mesh of a plugin must be 1 1 1, got {scale:?}; change the \
             attributes of the plugin instead"
        );
        return Err(node.error_at("scale", message));
    }
    let function = configured(&config, defaults)?;
    let (vertices, faces) = surface(&function)
        .map_err(|why| plugin.error(format!("mesh '{name}': plugin '{}': {why}", config.name)))?;
    Ok(Some(to_obj(&vertices, &faces, &[], name)))
}

/// Returns the name of a plugin and the element that configures it: the element itself, or the
/// instance in `<extension>` that it names.
fn find_config(plugin: ElementRef<'_>) -> Parsed<PluginConfig<'_>> {
    let Some(instance) = plugin.own_text("instance") else {
        let Some(name) = plugin.own_text("plugin") else {
            let message = "<plugin> must have an attribute 'plugin' or 'instance'";
            return Err(plugin.error(message));
        };
        return Ok(PluginConfig { name, node: plugin });
    };
    let extensions = plugin.at(0).children_named("extension");
    for declared in extensions.flat_map(|e| e.children_named("plugin")) {
        let mut instances = declared.children_named("instance");
        if let Some(node) = instances.find(|i| i.name() == Some(instance)) {
            let name = declared.own_text("plugin").unwrap_or_default();
            return Ok(PluginConfig { name, node });
        }
    }
    let message = format!("<extension> has no plugin instance '{instance}'");
    Err(plugin.error_at("instance", message))
}

/// Applies the `<config>` elements of a plugin to its default attributes.
fn configured(config: &PluginConfig<'_>, defaults: DistanceFunction) -> Parsed<DistanceFunction> {
    let mut function = defaults;
    let mut seen: Vec<&str> = vec![];
    for entry in config.node.children_named("config") {
        let (Some(key), Some(value)) = (entry.text("key"), entry.text("value")) else {
            return Err(entry.error("<config> must have attributes 'key' and 'value'"));
        };
        let key = key.trim();
        let Some(attribute) = function.attribute(key) else {
            let message = format!(
                "plugin '{}' has no attribute '{key}'; it has {}",
                config.name,
                function.attribute_names().join(", ")
            );
            return Err(entry.error_at("key", message));
        };
        if seen.contains(&key) {
            let message = format!("plugin '{}': attribute '{key}' is given twice", config.name);
            return Err(entry.error_at("key", message));
        }
        seen.push(key);
        if value.trim().is_empty() {
            continue;
        }
        match value.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => *attribute = number,
            _ => {
                let message = format!(
                    "plugin '{}': attribute '{key}' must be a finite number, got '{value}'",
                    config.name
                );
                return Err(entry.error_at("value", message));
            }
        }
    }
    Ok(function)
}

/// A triangle mesh: vertices (m) and the indices of their faces.
type Surface = (Vec<Vector3<f64>>, Vec<[u32; 3]>);

/// Returns the surface of a distance function on MuJoCo's grid, as `mjCMesh::LoadSDF` makes it.
fn surface(function: &DistanceFunction) -> Result<Surface, String> {
    let half = function.half_extents();
    let total: f64 = half.iter().sum();
    let counts = half.map(|h| (GRID_POINTS / total * h).floor() + 1.0);
    // NaN is refused as well.
    if !half.iter().all(|h| *h > 0.0) || !counts.iter().all(|n| *n >= 2.0) {
        return Err(format!(
            "the half extents of its bounds must be positive and at least 1/{GRID_POINTS} of their \
             sum, got {half:?} m; change its attributes"
        ));
    }
    let counts = counts.map(|n| n as usize);
    let along = |axis: usize, i: usize| {
        -half[axis] + 2.0 * half[axis] * i as f64 / (counts[axis] - 1) as f64
    };
    let field = SampledField::new(counts, |[i, j, k]| {
        let point = Vector3::new(along(0, i), along(1, j), along(2, k));
        function.distance(&point) as f32
    });
    let (points, faces) = field.zero_surface();
    let to_metres = |p: &[f32; 3]| {
        let x = |axis: usize| {
            let stretched = 2.0 * half[axis] * f64::from(p[axis]) / (counts[axis] - 1) as f64;
            f64::from((stretched - half[axis]) as f32)
        };
        Vector3::new(x(0), x(1), x(2))
    };
    let vertices: Vec<Vector3<f64>> = points.iter().map(to_metres).collect();
    // Faces at a corner of the grid where the function is zero can be points or lines.
    let area = |face: &[u32; 3]| {
        let [a, b, c] = face.map(|i| vertices[i as usize]);
        (b - a).cross(&(c - a)).norm_squared()
    };
    let faces: Vec<[u32; 3]> = faces.into_iter().filter(|f| area(f) > 0.0).collect();
    if faces.is_empty() {
        return Err(
            "its distance function must be negative somewhere within its bounds; change its \
             attributes"
                .into(),
        );
    }
    Ok((vertices, faces))
}
