//! `<asset>`: meshes and materials.

use super::compiler::CompilerOptions;
use super::defaults::DefaultClasses;
use super::msh;
use super::tree::ElementRef;
use crate::document::xml::Parsed;
use crate::spatial::check_rotational;
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tarragon_geometry::{
    Convex, MassProperties, Mesh, MeshSource, Rgba, Shape, calc_mass_properties,
};

/// Attributes of `<mesh>` without a meaning for the plant, with the reasons.
const IGNORED_IN_MESH: [(&str, &str); 8] = [
    ("face", "meshes are read from files only"),
    ("params", "meshes are read from files only"),
    ("maxhullvert", "convex hulls are exact"),
    ("refpos", "vertices are used as they are in the file"),
    ("refquat", "vertices are used as they are in the file"),
    ("smoothnormal", "normals are those of the file"),
    ("vertex", "meshes are read from files only"),
    ("builtin", "meshes are read from files only"),
];

/// Meshes and materials by name.
#[derive(Debug, Default)]
pub(super) struct Assets {
    pub(super) meshes: BTreeMap<String, Mesh>,
    /// Colours; `None` if the material has none.
    pub(super) materials: BTreeMap<String, Option<Rgba>>,
}

impl Assets {
    /// Reads all `<asset>` elements; `resolve` finds the file of a path or a URL.
    pub(super) fn read(
        root: ElementRef<'_>,
        compiler: &CompilerOptions,
        defaults: &DefaultClasses,
        resolve: &dyn Fn(&str) -> Result<PathBuf, String>,
    ) -> Self {
        let mut assets = Self::default();
        for node in root.children_named("asset").flat_map(|a| a.children()) {
            // Errors were reported.
            let _ = match node.tag() {
                "mesh" => assets.read_mesh(defaults.apply(node, None), compiler, resolve),
                "material" => assets.read_material(node),
                "texture" => {
                    node.ignored("textures are not read");
                    Ok(())
                }
                "hfield" => {
                    node.ignored("height fields are not supported");
                    Ok(())
                }
                "skin" => {
                    node.ignored("deformable bodies are not supported");
                    Ok(())
                }
                "model" => {
                    node.ignored(
                        "attaching models to models is not supported; use model directives",
                    );
                    Ok(())
                }
                _ => {
                    node.ignored("the element is unknown");
                    Ok(())
                }
            };
        }
        assets
    }

    fn read_mesh(
        &mut self,
        node: ElementRef<'_>,
        compiler: &CompilerOptions,
        resolve: &dyn Fn(&str) -> Result<PathBuf, String>,
    ) -> Parsed<()> {
        node.ignore_attributes(&IGNORED_IN_MESH);
        let name = node.name();
        let Some(file) = node.own_text("file") else {
            let name = name.unwrap_or_default();
            node.warning(format!(
                "mesh '{name}' has no attribute 'file'; it is left out: meshes are read from files only"
            ));
            return Ok(());
        };
        if let Some(other) = node
            .text("inertia")
            .map(str::trim)
            .filter(|i| *i != "exact" && *i != "legacy")
        {
            let message = format!("inertia '{other}' is ignored: meshes are solid");
            node.warning_at("inertia", message);
        }
        let stem = Path::new(file).file_stem();
        let name = name.map_or_else(
            || {
                stem.map(|s| s.to_string_lossy().into_owned())
                    .unwrap_or_default()
            },
            String::from,
        );
        let scale = node.vector::<3>("scale")?.unwrap_or([1.0; 3]);
        let uri = match file.contains("://") {
            true => file.into(),
            false => Path::new(&compiler.mesh_directory)
                .join(file)
                .to_string_lossy()
                .into_owned(),
        };
        let path = resolve(&uri).map_err(|why| node.error_at("file", why))?;
        let binary = path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("msh"));
        let source: MeshSource = match binary {
            true => msh::read(&path)
                .map_err(|why| node.error_at("file", why))?
                .into(),
            false => path.into(),
        };
        let mesh = Mesh::with_scale(source, Vector3::from(scale));
        let mesh = mesh.map_err(|e| node.error_at("scale", e))?;
        self.meshes.insert(name, mesh);
        Ok(())
    }

    /// Reads a material; as in Drake, classes provide no defaults for materials.
    fn read_material(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        let Some(name) = node.name() else {
            return Err(node.error("<material> has no attribute 'name'"));
        };
        let rgba = read_rgba(node)?;
        self.materials.insert(name.into(), rgba);
        Ok(())
    }
}

/// Reads the colour of an element.
pub(super) fn read_rgba(node: ElementRef<'_>) -> Parsed<Option<Rgba>> {
    let Some([r, g, b, a]) = node.vector::<4>("rgba")? else {
        return Ok(None);
    };
    let rgba = Rgba::new(r, g, b, a);
    rgba.map(Some).map_err(|e| node.error_at("rgba", e))
}

/// Computes the mass properties of a mesh at 1 kg/m^3. If the mesh encloses no volume or has a
/// physically impossible inertia, those of its convex hull are used with a warning.
pub(super) fn mass_of_mesh(node: ElementRef<'_>, mesh: &Mesh) -> Parsed<MassProperties> {
    let solid = calc_mass_properties(&mesh.clone().into(), 1.0).map_err(|e| e.to_string());
    let why = match solid.map(|m| (m, check_rotational(&m.inertia_about_center_of_mass()))) {
        Ok((solid, Ok(()))) => return Ok(solid),
        Ok((_, Err(why))) => why.to_string(),
        Err(why) => why,
    };
    let hull = Convex::with_scale(mesh.source().clone(), mesh.scale3());
    let hull = hull.and_then(|hull| calc_mass_properties(&Shape::from(hull), 1.0));
    let hull = hull.map_err(|e| node.error(e))?;
    node.warning(format!(
        "{why}; the inertia of the mesh's convex hull is used instead"
    ));
    Ok(hull)
}
