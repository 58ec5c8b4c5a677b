//! Elements that are left out, and what the plant does instead.

use super::element::{Element, Report, truth};

const APPEARANCE: &str = "only colours, <drake:diffuse_map> and shapes are read";
const OWN_CONTACT: &str = "use <drake:point_contact_stiffness> and \
                           <drake:hunt_crossley_dissipation>";
const OWN_SOLVER: &str =
    "the plant has its own solver; only the time step of the world is read (`model_options`)";
const NO_MEDIUM: &str = "no medium is simulated";
const NOT_A_MODEL: &str = "it is not part of the plant";
const LEFT_OUT: &str = "the geometry is left out";
const STIFF_LIMITS: &str = "joint limits are as stiff as the time step allows";
const WHERE_PLACED: &str = "models start where their poses put them";

/// Names of elements, and what the plant does instead.
const REASONS: [(&str, &str); 46] = [
    ("actor", NOT_A_MODEL),
    ("allow_auto_disable", "bodies never sleep"),
    ("atmosphere", NO_MEDIUM),
    ("auto_inertia_params", "inertias of shapes are exact"),
    ("battery", NOT_A_MODEL),
    ("blend", APPEARANCE),
    ("bone_attachment", "bodies are rigid"),
    ("cast_shadows", APPEARANCE),
    ("cone", LEFT_OUT),
    ("convex_decomposition", "the mesh is used as it is"),
    ("dissipation", STIFF_LIMITS),
    ("double_sided", APPEARANCE),
    ("enable_wind", NO_MEDIUM),
    ("fluid_added_mass", NO_MEDIUM),
    ("gearbox_ratio", "gearboxes are not supported"),
    ("gearbox_reference_body", "gearboxes are not supported"),
    (
        "gravity",
        "all models have the plant's gravity, 9.81 m/s^2 downwards unless the program sets \
         another; MJCF files can set it",
    ),
    ("gripper", "objects are held by contact and friction"),
    ("image", LEFT_OUT),
    ("light", NOT_A_MODEL),
    ("lighting", APPEARANCE),
    ("magnetic_field", "no magnetic field is simulated"),
    (
        "max_contacts",
        "the contact model chooses the number of points",
    ),
    ("model_state", WHERE_PLACED),
    ("must_be_base_link", "joints to the world fix bodies"),
    ("particle_emitter", NOT_A_MODEL),
    ("pbr", APPEARANCE),
    ("physics", OWN_SOLVER),
    ("plugin", "plugins are not supported"),
    ("polyline", LEFT_OUT),
    ("population", WHERE_PLACED),
    ("projector", NOT_A_MODEL),
    ("sampling", "the surface has one point per pixel"),
    ("script", APPEARANCE),
    (
        "self_collide",
        "bodies of a model collide unless a joint connects them",
    ),
    ("sensor", NOT_A_MODEL),
    ("shader", APPEARANCE),
    ("shininess", APPEARANCE),
    ("state", WHERE_PLACED),
    ("stiffness", STIFF_LIMITS),
    ("submesh", "the whole mesh is used"),
    ("texture", APPEARANCE),
    ("transparency", APPEARANCE),
    ("use_terrain_paging", "the whole surface is loaded"),
    ("velocity_decay", "bodies have no drag"),
    ("wind", NO_MEDIUM),
];

/// Further elements without an effect on bodies, joints and collisions.
const WITHOUT_EFFECT: [&str; 11] = [
    "audio",
    "bounce",
    "bullet",
    "contact",
    "gui",
    "laser_retro",
    "meta",
    "road",
    "scene",
    "spherical_coordinates",
    "torsional",
];

/// Paths below `<surface>` that are left out, and what the plant does instead.
const SURFACE: [(&[&str], &str); 24] = [
    (
        &["bounce", "restitution_coefficient"],
        "contacts dissipate energy by <drake:hunt_crossley_dissipation>",
    ),
    (&["friction", "torsional"], NO_TORQUE),
    (&["friction", "ode", "fdir1"], ISOTROPIC),
    (
        &["friction", "ode", "slip1"],
        "friction has no slip compliance",
    ),
    (
        &["friction", "ode", "slip2"],
        "friction has no slip compliance",
    ),
    (
        &["friction", "bullet"],
        "friction is that of <ode> or of <drake:proximity_properties>",
    ),
    (
        &["contact", "collide_without_contact"],
        "contacts exert forces",
    ),
    (&["contact", "collide_without_contact_bitmask"], FILTERS),
    (&["contact", "collide_bitmask"], FILTERS),
    (&["contact", "category_bitmask"], FILTERS),
    (
        &["contact", "poissons_ratio"],
        "use <drake:hydroelastic_modulus>",
    ),
    (
        &["contact", "elastic_modulus"],
        "use <drake:hydroelastic_modulus>",
    ),
    (&["contact", "ode", "soft_cfm"], OWN_CONTACT),
    (&["contact", "ode", "soft_erp"], OWN_CONTACT),
    (&["contact", "ode", "kp"], OWN_CONTACT),
    (&["contact", "ode", "kd"], OWN_CONTACT),
    (&["contact", "ode", "max_vel"], OWN_CONTACT),
    (&["contact", "ode", "min_depth"], OWN_CONTACT),
    (&["contact", "bullet", "soft_cfm"], OWN_CONTACT),
    (&["contact", "bullet", "soft_erp"], OWN_CONTACT),
    (&["contact", "bullet", "kp"], OWN_CONTACT),
    (&["contact", "bullet", "kd"], OWN_CONTACT),
    (&["contact", "bullet", "split_impulse"], OWN_CONTACT),
    (&["soft_contact"], "bodies are rigid"),
];
const FILTERS: &str = "<drake:collision_filter_group> selects what collides";
const ISOTROPIC: &str = "friction is the same in all directions";
const NO_TORQUE: &str = "friction exerts no torque about the normal";

/// Bit masks of all categories, the default.
const ALL_CATEGORIES: [f64; 2] = [65535.0, 255.0];

/// Returns true if bodies, joints and collisions are the same whatever elements with a given name
/// hold.
pub(super) fn has_no_effect(tag: &str) -> bool {
    let is_ignored = REASONS.iter().any(|(name, _)| *name == tag);
    // Cones have mass properties.
    (is_ignored && tag != "cone") || WITHOUT_EFFECT.contains(&tag)
}

/// Returns true if an element asks for what the plant does anyway.
fn asks_for_nothing(element: &Element) -> bool {
    let number: Option<f64> = match element.text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok().map(f64::from),
        None => element.text.parse().ok(),
    };
    match element.tag.as_str() {
        "allow_auto_disable" | "enable_wind" | "must_be_base_link" | "collide_without_contact" => {
            truth(&element.text) == Some(false)
        }
        "self_collide" | "gravity" => truth(&element.text) == Some(true),
        "kinematic" => truth(&element.text) == Some(false),
        "restitution_coefficient" | "slip1" | "slip2" => number == Some(0.0),
        "velocity_decay" => element.children.iter().all(|c| c.text.parse() == Ok(0.0)),
        "collide_bitmask" | "category_bitmask" => {
            number.is_some_and(|mask| ALL_CATEGORIES.contains(&mask))
        }
        // The defaults of the format.
        "stiffness" => number == Some(1e8),
        "dissipation" => number == Some(1.0),
        _ => false,
    }
}

impl Report {
    /// Warns that an element is left out, once for all places of the file with the same warning.
    pub(super) fn ignored(&self, element: &Element, around: &str) {
        if asks_for_nothing(element) {
            return;
        }
        let name = &element.tag;
        let reason = REASONS.iter().find(|(tag, _)| tag == name);
        let why = reason.map_or(String::new(), |(_, why)| format!(": {why}"));
        let message = format!("<{name}> in <{around}> is not supported and is ignored{why}");
        self.warning_grouped(element, message);
    }

    /// Warns about everything in the `<surface>` of a collision but `mu` and `mu2`.
    pub(super) fn check_surface(&self, collision: &Element) {
        let Some(surface) = collision.child("surface") else {
            return;
        };
        for (path, why) in SURFACE {
            let found = surface.descendant(path);
            if let Some(element) = found.filter(|e| !asks_for_nothing(e)) {
                let path = path.join("><");
                let message = format!("<{path}> in <surface> is ignored: {why}");
                self.warning_grouped(element, message);
            }
        }
    }
}
