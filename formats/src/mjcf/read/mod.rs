//! MJCF, the XML of MuJoCo.
//!
//! The format is described by the "XML Reference" of MuJoCo's documentation. Names and the order of
//! elements are those of Drake. Bodies, joints, masses, shapes and poses are those of MuJoCo 3.3:
//! `frame`, `replicate`, `attach` and `flexcomp` are expanded first (`expand/`). A few differences
//! from MuJoCo remain:
//!
//! * Several joints of a body are connected by massless bodies.
//! * Actuators have no activations: the input of an actuator with `dyntype` is its activation, and
//!   otherwise its control ([`crate::AffineControl`]). Forces that are not affine are left out.
//! * Contact resists sliding, but neither torsion nor rolling. It starts at a distance of
//!   `margin - gap`. Its compliance follows from `solref` and `solimp`
//!   ([`crate::MujocoContact`]), and so does the compliance of most equalities. Limits of joints
//!   and dry friction are as stiff as the time step allows.
//! * `group` determines whether a geom is drawn (groups up to 2).
//! * Meshes collide with their true shape, not with their convex hulls. Geoms of type `sdf` do so
//!   too, with a warning, because MuJoCo uses their distance functions. Plugins that make meshes
//!   are evaluated (`distance_plugin/`); all others are left out.
//! * A `flexcomp` becomes bodies that nothing connects, and a cable a chain of bodies without
//!   elasticity, with a warning. Sensors are kept, but the plant does not evaluate them. The dry
//!   friction, armature and margin of all tendons are left out.
//! * A spatial tendon that a side site pulls inwards is as short as possible; MuJoCo's search for
//!   the point of the geom is less exact.
//!
//! [`MjcfSemantics::Drake`] selects Drake's reading, which departs from MuJoCo's:
//!
//! * If a body has several joints, only the last one is placed at the pose of the body; the others
//!   are placed as if that pose were the identity.
//! * A class without defaults for an element provides none, even if an enclosing class does.
//!   Materials have no defaults.
//! * The input of an actuator is its effort, and only `motor` and `position` are actuators.
//!   `ctrlrange` is an effort limit, even of a position servo, whose damping gain is `kd` and not
//!   `kv`; `gear` scales nothing. Armature is a property of motors. Tendons are left out.
//! * Joints have neither springs nor dry friction.
//! * `contype` and `conaffinity` only determine whether a geom has collision geometry, which
//!   collides with all others; friction is the harmonic mean.
//! * The following are left out: elements that `expand/` would expand, bodies inside a `frame`,
//!   height fields, textures, skins, meshes from numbers and plugins, geoms of type `sdf`,
//!   `refpos`, `refquat`, and the attributes of `compiler` that change masses. The model must have
//!   a name.
//!
//! Everything else that a file asks for is left out with a warning, once per file and text;
//! `docs/guide/models.md` has the list.
//!
//! Warnings about these losses name the other reading. Both readings accept the following, which
//! Drake refuses:
//!
//! * meshes in all formats that [`tarragon_geometry::Mesh`] reads, and MuJoCo's MSH,
//! * shapes whose size is fitted to a mesh,
//! * `exclude` and `connect` of the world body,
//! * included files in the directory of the file that includes them.
//!
//! Both keep the first skybox ([`crate::Parser::skybox`]), which changes nothing by itself.
//!
//! Both keep the following, which Drake ignores, without making it part of the plant: sites
//! (`MultibodyModel::sites`), cameras (`model_cameras`), keyframes (`keyframes`). `weld`
//! and `joint` equalities act in MuJoCo's reading; Drake's keeps them (`model_equalities`).

mod actuator_force;
mod actuators;
mod annotations;
mod asset_context;
mod assets;
mod attached_key;
mod bodies;
mod builder;
mod compiler;
mod contact;
mod contact_options;
mod contact_properties;
mod controls;
mod default_inertia;
mod defaults;
mod distance_plugin;
mod equality;
mod expand;
mod fit;
mod flags;
mod geom_texture;
mod geoms;
mod height_field_asset;
mod heightfield;
mod include;
mod joints;
mod key_values;
mod keyframes;
mod mesh_asset;
mod mesh_inertia;
mod meshes;
mod msh;
mod obj_text;
mod own_plant;
mod pixels;
mod principal_axes;
mod sections;
mod sensors;
mod shell;
mod skin_data;
mod skins;
mod spatial_tendons;
mod springs;
mod tendon_equality;
mod tendons;
mod textures;
mod tree;
mod values;
mod vocabulary;

use crate::reading::format::ModelFormat;
use crate::reading::mjcf_semantics::{MjcfSemantics, UNNAMED};
use crate::reading::target::{ModelNaming, ParseTarget};
use asset_context::AssetContext;
use assets::Assets;
use builder::MjcfBuilder;
use compiler::CompilerOptions;
use contact_options::ContactOptions;
use defaults::DefaultClasses;
use expand::Expanded;
use flags::PhysicsFlags;
use sections::GlobalSections;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tarragon_documents::xml::Parsed;
use tarragon_documents::{Diagnostic, ModelInput};
use tarragon_multibody::{BodyIndex, JointIndex, ModelInstanceIndex};
use tree::{DiagnosticLog, ElementRef, ElementTree};

/// Elements under the root that are left out, with the reasons.
const IGNORED: [(&str, &str); 7] = [
    ("deformable", "deformable bodies are not supported"),
    ("extension", "plugins are not supported"),
    ("sensor", "sensors are not part of models"),
    ("statistic", "there is no visualizer that could use it"),
    (
        "tendon",
        "tendons are not supported; their springs, dampers and limits do not act",
    ),
    ("visual", "there is no visualizer that could use it"),
    ("flex", "deformable bodies are not supported"),
];
/// Adds the model of an MJCF file.
pub(crate) fn parse(
    input: &ModelInput<'_>,
    naming: &ModelNaming<'_>,
    target: &mut ParseTarget<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ModelInstanceIndex> {
    let expanded = {
        let resolve = |uri: &str, directory: Option<&Path>| target.resolve(uri, directory);
        expand::read(input, target.mjcf_semantics, &resolve)
    };
    let Expanded {
        tree,
        log,
        compilers,
        flags,
    } = expanded;
    let semantics = target.mjcf_semantics;
    let document = (&tree, &log, compilers, flags);
    let model = add_model((input, semantics), naming, target, document);
    diagnostics.extend(log.into_diagnostics());
    model.into_iter().collect()
}

fn add_model(
    (input, semantics): (&ModelInput<'_>, MjcfSemantics),
    naming: &ModelNaming<'_>,
    target: &mut ParseTarget<'_>,
    (tree, log, compilers, flags): (
        &ElementTree,
        &DiagnosticLog,
        Vec<CompilerOptions>,
        PhysicsFlags,
    ),
) -> Option<ModelInstanceIndex> {
    // The tree is empty only if the file could not be read, which was reported.
    tree.elements.first()?;
    let root = ElementRef::root(tree, log);
    if root.tag() != "mujoco" {
        root.error(format!(
            "the root element must be <mujoco>, got <{}>{}",
            root.tag(),
            ModelFormat::cure_of_root(root.tag())
        ));
        return None;
    }
    let name = model_name(input, naming, root, semantics).ok()?;
    let instance = target.add_model_instance(naming.scope, &name);
    let instance = instance.map_err(|e| root.error_at("model", e)).ok()?;
    let time_step = compiler::read_options(root, target.plant, semantics);
    target.options.time_step.get_or_insert(time_step);
    target.options.mjcf_semantics = Some(semantics);
    let defaults = DefaultClasses::read(root, semantics);
    let resolve = |uri: &str| target.resolve(uri, input.directory);
    let context = AssetContext {
        compilers: &compilers,
        defaults: &defaults,
        mesh_geometry: target.mesh_geometry,
        resolve: &resolve,
    };
    let mut assets = Assets::read(root, &context);
    if let (Some(skybox), None) = (assets.skybox.take(), &target.skybox) {
        target.skybox = Some(Box::new(move || skybox.cube_map()));
    }
    let document = GlobalSections {
        compilers,
        defaults,
        assets,
        paired_geoms: contact::paired_geoms(root),
        flags,
        contact_options: ContactOptions::read(root),
    };
    let first_body = BodyIndex::new(target.plant.num_bodies());
    let first_joint = JointIndex::new(target.plant.num_joints());
    let mut builder = MjcfBuilder {
        document: &document,
        target,
        instance,
        first_body,
        first_joint,
        sites: BTreeMap::new(),
        poses: BTreeMap::new(),
        bodies: BTreeMap::new(),
        names: body_names(root),
        joints: BTreeMap::new(),
        named_geoms: BTreeMap::new(),
        collision_geoms: BTreeMap::new(),
        collision_masks: vec![],
        armatures: BTreeMap::new(),
        spring_positions: BTreeMap::new(),
        spring_dampers: vec![],
        effort_ranges: BTreeMap::new(),
        actuators: vec![],
        tendons: BTreeMap::new(),
        tendon_names: BTreeSet::new(),
        free_joints: BTreeSet::new(),
        coordinates: vec![],
        num_cameras: 0,
    };
    for world in root.children_named("worldbody") {
        builder.add_worldbody(world);
    }
    builder.set_total_mass(first_body);
    builder.add_spring_dampers();
    match semantics {
        MjcfSemantics::Drake => builder.add_actuators(root),
        _ => {
            builder.add_tendons(root);
            builder.add_controls(root);
        }
    }
    builder.add_contact(root);
    builder.add_equalities(root);
    builder.add_keyframes(root);
    if semantics != MjcfSemantics::Drake {
        builder.add_sensors(root);
        builder.add_skins(root, input.directory);
    }
    for node in root.children() {
        if matches!(node.tag(), "sensor" | "tendon") && semantics != MjcfSemantics::Drake {
            continue;
        }
        if node.tag() == "deformable" && semantics != MjcfSemantics::Drake {
            let others = node.children().filter(|child| child.tag() != "skin");
            others.for_each(|child| child.ignored("deformable bodies are not supported"));
            continue;
        }
        if node.tag() == "extension" && semantics != MjcfSemantics::Drake {
            distance_plugin::check_extension(node);
            continue;
        }
        if let Some((_, why)) = IGNORED.iter().find(|(tag, _)| *tag == node.tag()) {
            let has_other_reading =
                matches!(node.tag(), "deformable" | "extension" | "sensor" | "tendon");
            node.lost_if(has_other_reading).ignored(why);
        }
    }
    Some(instance)
}

/// Returns the name of the model: the one given by the caller, the file's own, or, where MuJoCo
/// names the model itself, the stem of the file or MuJoCo's name.
fn model_name(
    input: &ModelInput<'_>,
    naming: &ModelNaming<'_>,
    root: ElementRef<'_>,
    semantics: MjcfSemantics,
) -> Parsed<String> {
    if let Some(name) = naming.name.or(root.own_text("model")) {
        return Ok(name.into());
    }
    if semantics == MjcfSemantics::Drake {
        let message = "<mujoco> has no attribute 'model'; add it, load the model under a name, or \
                       read it as MuJoCo does (MjcfSemantics::MuJoCo, --mjcf-semantics mujoco)";
        return Err(root.error(message));
    }
    // A text has no file name.
    let stem = input.directory.and(Path::new(input.file).file_stem());
    let stem = stem.map(|s| s.to_string_lossy().into_owned());
    let name = stem.filter(|s| !s.is_empty());
    let name = name.unwrap_or_else(|| UNNAMED.into());
    root.warning(format!(
        "<mujoco> has no attribute 'model'; the model is named '{name}'"
    ));
    Ok(name)
}

/// Returns the names of all bodies.
fn body_names<'d>(root: ElementRef<'d>) -> BTreeSet<&'d str> {
    let mut names = BTreeSet::new();
    let mut waiting: Vec<ElementRef<'d>> = root.children_named("worldbody").collect();
    while let Some(node) = waiting.pop() {
        names.extend(node.name());
        waiting.extend(node.children_named("body"));
    }
    names
}
