//! Reads SDFormat from a grammar: nested and included models, poses relative to frames, and Drake's
//! elements.
#![no_main]

#[path = "support/grammar.rs"]
mod grammar;
#[path = "support/model.rs"]
mod model;

use grammar::Element;
use libfuzzer_sys::fuzz_target;

const ELEMENTS: &[Element] = &[
    Element::new("sdf", "version=1.0|1.4|1.7|1.9|1.12|9", "model model world"),
    Element::new("world", "name=name", "model include frame joint gravity"),
    Element::with_text("gravity", "", "3"),
    Element::new(
        "model",
        "name=name canonical_link=name placement_frame=name",
        "pose link link link joint joint frame model include static drake:joint \
         drake:collision_filter_group drake:ball_constraint drake:linear_bushing_rpy \
         drake:linear_spring_damper drake:tendon_constraint",
    ),
    Element::with_text("static", "", "flag"),
    Element::with_text(
        "pose",
        "relative_to=name degrees=flag rotation_format=euler_rpy|quat_xyzw",
        "6",
    ),
    Element::new(
        "include",
        "merge=flag placement_frame=name",
        "uri name pose static placement_frame",
    ),
    Element::with_text("uri", "", "file"),
    Element::with_text("name", "", "name"),
    Element::with_text("placement_frame", "", "name"),
    Element::new("frame", "name=name attached_to=name", "pose"),
    Element::new(
        "link",
        "name=name",
        "pose inertial visual collision sensor enable_wind",
    ),
    Element::new("inertial", "auto=flag", "pose mass inertia density"),
    Element::with_text("mass", "", "number"),
    Element::with_text("density", "", "number"),
    Element::new("inertia", "", "ixx iyy izz ixy ixz iyz"),
    Element::with_text("ixx", "", "number"),
    Element::with_text("iyy", "", "number"),
    Element::with_text("izz", "", "number"),
    Element::with_text("ixy", "", "number"),
    Element::with_text("ixz", "", "number"),
    Element::with_text("iyz", "", "number"),
    Element::new("visual", "name=name", "pose geometry geometry material"),
    Element::new(
        "collision",
        "name=name",
        "pose geometry geometry surface drake:proximity_properties density",
    ),
    Element::new(
        "geometry",
        "",
        "box sphere cylinder capsule ellipsoid cone mesh plane empty polyline",
    ),
    Element::new("box", "", "size"),
    Element::with_text("size", "", "3"),
    Element::new("sphere", "", "radius"),
    Element::with_text("radius", "", "number"),
    Element::with_text("length", "", "number"),
    Element::new("cylinder", "", "radius length"),
    Element::new("capsule", "", "radius length"),
    Element::new("cone", "", "radius length"),
    Element::new("ellipsoid", "", "radii"),
    Element::with_text("radii", "", "3"),
    Element::new("mesh", "", "uri scale drake:declare_convex"),
    Element::with_text("scale", "", "3"),
    Element::new("plane", "", "normal"),
    Element::with_text("normal", "", "3"),
    Element::new("surface", "", "friction"),
    Element::new("friction", "", "ode"),
    Element::new("ode", "", "mu mu2"),
    Element::with_text("mu", "", "number"),
    Element::with_text("mu2", "", "number"),
    Element::new("material", "", "diffuse"),
    Element::with_text("diffuse", "", "4"),
    Element::new(
        "joint",
        "name=name type=revolute|continuous|prismatic|fixed|ball|universal|screw|revolute2",
        "pose parent parent child child axis axis axis2 screw_thread_pitch",
    ),
    Element::new(
        "drake:joint",
        "name=name type=planar|curvilinear",
        "+drake:parent +drake:child +drake:damping pose drake:initial_tangent drake:plane_normal \
         drake:is_periodic drake:curves",
    ),
    Element::with_text("parent", "", "name"),
    Element::with_text("child", "", "name"),
    Element::new("axis", "", "+xyz limit dynamics mimic"),
    Element::with_text("xyz", "expressed_in=name", "3"),
    Element::new("limit", "", "lower upper effort velocity"),
    Element::with_text("lower", "", "number"),
    Element::with_text("upper", "", "number"),
    Element::with_text("effort", "", "number"),
    Element::new("mimic", "joint=name", "multiplier offset"),
    Element::with_text("multiplier", "", "number"),
    Element::new("dynamics", "", "damping spring_stiffness spring_reference"),
    Element::with_text("damping", "", "number"),
    Element::new("drake:declare_convex", "", ""),
    Element::new("empty", "", ""),
    Element::new("polyline", "", ""),
    Element::new("sensor", "", ""),
    Element::new("drake:compliant_hydroelastic", "", ""),
    Element::new("drake:rigid_hydroelastic", "", ""),
    Element::with_text("enable_wind", "", "flag"),
    Element::with_text("screw_thread_pitch", "", "number"),
    Element::with_text("spring_stiffness", "", "number"),
    Element::with_text("spring_reference", "", "number"),
    Element::with_text("velocity", "", "number"),
    Element::with_text("offset", "", "number"),
    Element::with_text("drake:mesh_resolution_hint", "", "number"),
    Element::with_text("drake:hydroelastic_modulus", "", "number"),
    Element::with_text("drake:mu_static", "", "number"),
    Element::with_text("drake:mu_dynamic", "", "number"),
    Element::with_text("drake:length", "", "number"),
    Element::with_text("drake:radius", "", "number"),
    Element::with_text("drake:angle", "", "number"),
    Element::new("axis2", "", "+xyz limit dynamics"),
    Element::with_text("drake:parent", "", "name"),
    Element::with_text("drake:child", "", "name"),
    Element::with_text("drake:damping", "", "3"),
    Element::new("drake:initial_tangent", "", "+xyz"),
    Element::new("drake:plane_normal", "", "+xyz"),
    Element::with_text("drake:is_periodic", "", "flag"),
    Element::new("drake:curves", "", "drake:line_segment drake:circular_arc"),
    Element::new("drake:line_segment", "", "+drake:length"),
    Element::new("drake:circular_arc", "", "+drake:radius +drake:angle"),
    Element::new(
        "drake:proximity_properties",
        "",
        "drake:mesh_resolution_hint drake:mu_dynamic drake:mu_static drake:compliant_hydroelastic \
         drake:rigid_hydroelastic drake:hydroelastic_modulus",
    ),
    Element::new(
        "drake:collision_filter_group",
        "name=name ignore=flag",
        "drake:member drake:member_group drake:ignored_collision_filter_group",
    ),
    Element::with_text("drake:member", "", "name"),
    Element::with_text("drake:member_group", "", "name"),
    Element::with_text("drake:ignored_collision_filter_group", "", "name"),
    Element::new(
        "drake:linear_bushing_rpy",
        "",
        "+drake:bushing_frameA +drake:bushing_frameC +drake:bushing_torque_stiffness \
         +drake:bushing_torque_damping +drake:bushing_force_stiffness +drake:bushing_force_damping",
    ),
    Element::with_text("drake:bushing_frameA", "", "name"),
    Element::with_text("drake:bushing_frameC", "", "name"),
    Element::with_text("drake:bushing_torque_stiffness", "", "3"),
    Element::with_text("drake:bushing_torque_damping", "", "3"),
    Element::with_text("drake:bushing_force_stiffness", "", "3"),
    Element::with_text("drake:bushing_force_damping", "", "3"),
    Element::new(
        "drake:linear_spring_damper",
        "",
        "+drake:linear_spring_damper_body_A +drake:linear_spring_damper_p_AP \
         +drake:linear_spring_damper_body_B +drake:linear_spring_damper_p_BQ \
         +drake:linear_spring_damper_free_length +drake:linear_spring_damper_stiffness \
         +drake:linear_spring_damper_damping",
    ),
    Element::with_text("drake:linear_spring_damper_body_A", "", "name"),
    Element::with_text("drake:linear_spring_damper_p_AP", "", "3"),
    Element::with_text("drake:linear_spring_damper_body_B", "", "name"),
    Element::with_text("drake:linear_spring_damper_p_BQ", "", "3"),
    Element::with_text("drake:linear_spring_damper_free_length", "", "number"),
    Element::with_text("drake:linear_spring_damper_stiffness", "", "number"),
    Element::with_text("drake:linear_spring_damper_damping", "", "number"),
    Element::new(
        "drake:ball_constraint",
        "",
        "+drake:ball_constraint_body_A +drake:ball_constraint_p_AP +drake:ball_constraint_body_B \
         +drake:ball_constraint_p_BQ",
    ),
    Element::with_text("drake:ball_constraint_body_A", "", "name"),
    Element::with_text("drake:ball_constraint_p_AP", "", "3"),
    Element::with_text("drake:ball_constraint_body_B", "", "name"),
    Element::with_text("drake:ball_constraint_p_BQ", "", "3"),
    Element::new(
        "drake:tendon_constraint",
        "",
        "+drake:tendon_constraint_joint drake:tendon_constraint_joint \
         +drake:tendon_constraint_lower_limit +drake:tendon_constraint_upper_limit \
         +drake:tendon_constraint_offset drake:tendon_constraint_stiffness \
         drake:tendon_constraint_damping",
    ),
    Element::new("drake:tendon_constraint_joint", "name=name +a=number", ""),
    Element::with_text("drake:tendon_constraint_lower_limit", "", "number"),
    Element::with_text("drake:tendon_constraint_upper_limit", "", "number"),
    Element::with_text("drake:tendon_constraint_offset", "", "number"),
    Element::with_text("drake:tendon_constraint_stiffness", "", "number"),
    Element::with_text("drake:tendon_constraint_damping", "", "number"),
];

fuzz_target!(|bytes: &[u8]| {
    let text = grammar::document(bytes, ELEMENTS);
    model::check(text.as_bytes(), "model.sdf");
});
