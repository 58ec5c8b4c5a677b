//! Reads URDF from a grammar, with Drake's elements and those of xacro.
#![no_main]

#[path = "support/grammar.rs"]
mod grammar;
#[path = "support/model.rs"]
mod model;

use grammar::Element;
use libfuzzer_sys::fuzz_target;

const fn element(tag: &'static str, attributes: &'static str, children: &'static str) -> Element {
    Element {
        tag,
        attributes,
        children,
        text: "",
    }
}

const ELEMENTS: [Element; 48] = [
    element(
        "robot",
        "name=name",
        "link link link joint joint joint drake:joint transmission frame material \
         drake:collision_filter_group drake:linear_bushing_rpy drake:ball_constraint \
         drake:tendon_constraint drake:linear_spring_damper",
    ),
    element("link", "name=name", "inertial visual collision"),
    element("inertial", "", "origin mass inertia"),
    element("origin", "xyz=3 rpy=3", ""),
    element("mass", "value=number", ""),
    element(
        "inertia",
        "ixx=number iyy=number izz=number ixy=number ixz=number iyz=number",
        "",
    ),
    element("visual", "name=name", "origin geometry geometry material"),
    element(
        "collision",
        "name=name",
        "origin geometry geometry drake:proximity_properties",
    ),
    element(
        "geometry",
        "",
        "box sphere cylinder capsule ellipsoid mesh plane",
    ),
    element("box", "size=3", ""),
    element("sphere", "radius=number", ""),
    element("cylinder", "radius=number length=number", ""),
    element("capsule", "radius=number length=number", ""),
    element("ellipsoid", "a=number b=number c=number", ""),
    element("mesh", "filename=file scale=3", "drake:declare_convex"),
    element("plane", "normal=3", ""),
    element("material", "name=name", "color texture"),
    element("color", "rgba=4", ""),
    element("texture", "filename=file", ""),
    element(
        "joint",
        "name=name type=revolute|continuous|prismatic|fixed|floating|planar|ball",
        "origin parent parent child child axis limit dynamics mimic calibration safety_controller",
    ),
    element(
        "drake:joint",
        "name=name type=ball|universal|screw|curvilinear|planar",
        "origin parent parent child child axis limit dynamics drake:screw_thread_pitch \
         drake:initial_tangent drake:plane_normal drake:curves drake:is_periodic",
    ),
    element("parent", "link=name", ""),
    element("child", "link=name", ""),
    element("axis", "xyz=3", ""),
    element(
        "limit",
        "lower=number upper=number velocity=number effort=number drake:acceleration=number",
        "",
    ),
    element("dynamics", "damping=1 friction=number", ""),
    element("mimic", "joint=name multiplier=number offset=number", ""),
    element(
        "transmission",
        "name=name",
        "type joint actuator mechanicalReduction",
    ),
    Element {
        tag: "type",
        attributes: "",
        children: "",
        text: "transmission_interface/SimpleTransmission|SimpleTransmission|x",
    },
    element(
        "actuator",
        "name=name",
        "drake:rotor_inertia drake:gear_ratio drake:controller_gains",
    ),
    element("drake:rotor_inertia", "value=number", ""),
    element("drake:gear_ratio", "value=number", ""),
    element("drake:controller_gains", "p=number d=number", ""),
    element("frame", "name=name link=name xyz=3 rpy=3", ""),
    element(
        "drake:collision_filter_group",
        "name=name ignore=flag",
        "drake:member drake:ignored_collision_filter_group",
    ),
    element("drake:member", "link=name", ""),
    element("drake:ignored_collision_filter_group", "name=name", ""),
    element(
        "drake:proximity_properties",
        "",
        "drake:mesh_resolution_hint drake:mu_dynamic drake:mu_static drake:compliant_hydroelastic \
         drake:rigid_hydroelastic drake:hydroelastic_modulus",
    ),
    element("drake:mesh_resolution_hint", "value=number", ""),
    element("drake:mu_dynamic", "value=number", ""),
    element("drake:mu_static", "value=number", ""),
    element("drake:hydroelastic_modulus", "value=number", ""),
    element("drake:screw_thread_pitch", "value=number", ""),
    element("drake:initial_tangent", "xyz=3", ""),
    element("drake:plane_normal", "xyz=3", ""),
    element("drake:is_periodic", "value=flag", ""),
    element("drake:curves", "", "drake:line_segment drake:circular_arc"),
    element("drake:circular_arc", "radius=number angle=number", ""),
];

fuzz_target!(|bytes: &[u8]| {
    let text = grammar::document(bytes, &ELEMENTS);
    model::check(text.as_bytes(), "model.urdf");
});
