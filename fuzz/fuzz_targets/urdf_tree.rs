//! Reads URDF from a grammar, with Drake's elements.
#![no_main]

#[path = "support/grammar.rs"]
mod grammar;
#[path = "support/model.rs"]
mod model;

use grammar::Element;
use libfuzzer_sys::fuzz_target;

const ELEMENTS: &[Element] = &[
    Element::new(
        "robot",
        "name=name",
        "link link link joint joint joint drake:joint transmission frame material \
         drake:collision_filter_group drake:linear_bushing_rpy drake:ball_constraint \
         drake:tendon_constraint drake:linear_spring_damper",
    ),
    Element::new("link", "name=name", "inertial visual collision"),
    Element::new("inertial", "", "origin mass inertia"),
    Element::new("origin", "xyz=3 rpy=3", ""),
    Element::new("mass", "value=number", ""),
    Element::new(
        "inertia",
        "ixx=number iyy=number izz=number ixy=number ixz=number iyz=number",
        "",
    ),
    Element::new("visual", "name=name", "origin geometry geometry material"),
    Element::new(
        "collision",
        "name=name",
        "origin geometry geometry drake:proximity_properties",
    ),
    Element::new(
        "geometry",
        "",
        "box sphere cylinder capsule ellipsoid mesh plane",
    ),
    Element::new("box", "size=3", ""),
    Element::new("sphere", "radius=number", ""),
    Element::new("cylinder", "radius=number length=number", ""),
    Element::new("capsule", "radius=number length=number", ""),
    Element::new("ellipsoid", "a=number b=number c=number", ""),
    Element::new("mesh", "filename=file scale=3", "drake:declare_convex"),
    Element::new("plane", "normal=3", ""),
    Element::new("material", "name=name", "color texture"),
    Element::new("color", "rgba=4", ""),
    Element::new("texture", "filename=file", ""),
    Element::new(
        "joint",
        "name=name type=revolute|continuous|prismatic|fixed|floating|planar|ball",
        "origin parent parent child child axis limit dynamics mimic calibration safety_controller",
    ),
    Element::new(
        "drake:joint",
        "name=name type=ball|universal|screw|curvilinear|planar",
        "origin parent parent child child axis limit dynamics drake:screw_thread_pitch \
         drake:initial_tangent drake:plane_normal drake:curves drake:is_periodic",
    ),
    Element::new("parent", "link=name", ""),
    Element::new("child", "link=name", ""),
    Element::new("axis", "xyz=3", ""),
    Element::new(
        "limit",
        "lower=number upper=number velocity=number effort=number drake:acceleration=number",
        "",
    ),
    Element::new("dynamics", "damping=1 friction=number", ""),
    Element::new("mimic", "joint=name multiplier=number offset=number", ""),
    Element::new(
        "transmission",
        "name=name",
        "type joint actuator mechanicalReduction",
    ),
    Element::with_text(
        "type",
        "",
        "transmission_interface/SimpleTransmission|SimpleTransmission|x",
    ),
    Element::new(
        "actuator",
        "name=name",
        "drake:rotor_inertia drake:gear_ratio drake:controller_gains",
    ),
    Element::new("drake:rotor_inertia", "value=number", ""),
    Element::new("drake:gear_ratio", "value=number", ""),
    Element::new("drake:controller_gains", "p=number d=number", ""),
    Element::new("frame", "name=name link=name xyz=3 rpy=3", ""),
    Element::new(
        "drake:collision_filter_group",
        "name=name ignore=flag",
        "drake:member drake:ignored_collision_filter_group",
    ),
    Element::new("drake:member", "link=name", ""),
    Element::new("drake:ignored_collision_filter_group", "name=name", ""),
    Element::new(
        "drake:proximity_properties",
        "",
        "drake:mesh_resolution_hint drake:mu_dynamic drake:mu_static drake:compliant_hydroelastic \
         drake:rigid_hydroelastic drake:hydroelastic_modulus",
    ),
    Element::new("drake:mesh_resolution_hint", "value=number", ""),
    Element::new("drake:mu_dynamic", "value=number", ""),
    Element::new("drake:mu_static", "value=number", ""),
    Element::new("drake:hydroelastic_modulus", "value=number", ""),
    Element::new("drake:screw_thread_pitch", "value=number", ""),
    Element::new("drake:initial_tangent", "xyz=3", ""),
    Element::new("drake:plane_normal", "xyz=3", ""),
    Element::new("drake:is_periodic", "value=flag", ""),
    Element::new("drake:curves", "", "drake:line_segment drake:circular_arc"),
    Element::new("drake:circular_arc", "+radius=number +angle=number", ""),
    Element::new("calibration", "", ""),
    Element::new("safety_controller", "", ""),
    Element::new("drake:declare_convex", "", ""),
    Element::new("drake:compliant_hydroelastic", "", ""),
    Element::new("drake:rigid_hydroelastic", "", ""),
    Element::with_text("mechanicalReduction", "", "number"),
    Element::new("drake:line_segment", "+length=number", ""),
    Element::new(
        "drake:linear_bushing_rpy",
        "",
        "+drake:bushing_frameA +drake:bushing_frameC +drake:bushing_torque_stiffness \
         +drake:bushing_torque_damping +drake:bushing_force_stiffness +drake:bushing_force_damping",
    ),
    Element::new("drake:bushing_frameA", "name=name", ""),
    Element::new("drake:bushing_frameC", "name=name", ""),
    Element::new("drake:bushing_torque_stiffness", "+value=3", ""),
    Element::new("drake:bushing_torque_damping", "+value=3", ""),
    Element::new("drake:bushing_force_stiffness", "+value=3", ""),
    Element::new("drake:bushing_force_damping", "+value=3", ""),
    Element::new(
        "drake:linear_spring_damper",
        "",
        "+drake:linear_spring_damper_body_A +drake:linear_spring_damper_p_AP \
         +drake:linear_spring_damper_body_B +drake:linear_spring_damper_p_BQ \
         +drake:linear_spring_damper_free_length +drake:linear_spring_damper_stiffness \
         +drake:linear_spring_damper_damping",
    ),
    Element::new("drake:linear_spring_damper_body_A", "name=name", ""),
    Element::new("drake:linear_spring_damper_p_AP", "+value=3", ""),
    Element::new("drake:linear_spring_damper_body_B", "name=name", ""),
    Element::new("drake:linear_spring_damper_p_BQ", "+value=3", ""),
    Element::new(
        "drake:linear_spring_damper_free_length",
        "+value=number",
        "",
    ),
    Element::new("drake:linear_spring_damper_stiffness", "+value=number", ""),
    Element::new("drake:linear_spring_damper_damping", "+value=number", ""),
    Element::new(
        "drake:ball_constraint",
        "",
        "+drake:ball_constraint_body_A +drake:ball_constraint_p_AP +drake:ball_constraint_body_B \
         +drake:ball_constraint_p_BQ",
    ),
    Element::new("drake:ball_constraint_body_A", "name=name", ""),
    Element::new("drake:ball_constraint_p_AP", "+value=3", ""),
    Element::new("drake:ball_constraint_body_B", "name=name", ""),
    Element::new("drake:ball_constraint_p_BQ", "+value=3", ""),
    Element::new(
        "drake:tendon_constraint",
        "",
        "+drake:tendon_constraint_joint +drake:tendon_constraint_offset \
         +drake:tendon_constraint_lower_limit +drake:tendon_constraint_upper_limit \
         drake:tendon_constraint_joint drake:tendon_constraint_stiffness \
         drake:tendon_constraint_damping",
    ),
    Element::new("drake:tendon_constraint_joint", "name=name +a=number", ""),
    Element::new("drake:tendon_constraint_offset", "+value=number", ""),
    Element::new("drake:tendon_constraint_lower_limit", "+value=number", ""),
    Element::new("drake:tendon_constraint_upper_limit", "+value=number", ""),
    Element::new("drake:tendon_constraint_stiffness", "+value=number", ""),
    Element::new("drake:tendon_constraint_damping", "+value=number", ""),
];

fuzz_target!(|bytes: &[u8]| {
    let text = grammar::document(bytes, ELEMENTS);
    model::check(text.as_bytes(), "model.urdf");
});
