//! Reads SDFormat from a grammar: nested and included models, poses relative to frames, and Drake's
//! elements.
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
const fn leaf(tag: &'static str, attributes: &'static str, text: &'static str) -> Element {
    Element {
        tag,
        attributes,
        children: "",
        text,
    }
}

const ELEMENTS: [Element; 60] = [
    element("sdf", "version=1.0|1.4|1.7|1.9|1.12|9", "model model world"),
    element("world", "name=name", "model include frame joint gravity"),
    leaf("gravity", "", "3"),
    element(
        "model",
        "name=name canonical_link=name placement_frame=name",
        "pose link link link joint joint frame model include static drake:joint \
         drake:collision_filter_group drake:ball_constraint drake:linear_bushing_rpy",
    ),
    leaf("static", "", "flag"),
    leaf("pose", "relative_to=name degrees=flag rotation_format=euler_rpy|quat_xyzw", "6"),
    element(
        "include",
        "merge=flag placement_frame=name",
        "uri name pose static placement_frame",
    ),
    leaf("uri", "", "file"),
    leaf("name", "", "name"),
    leaf("placement_frame", "", "name"),
    element("frame", "name=name attached_to=name", "pose"),
    element(
        "link",
        "name=name",
        "pose inertial visual collision sensor enable_wind",
    ),
    element("inertial", "auto=flag", "pose mass inertia density"),
    leaf("mass", "", "number"),
    leaf("density", "", "number"),
    element("inertia", "", "ixx iyy izz ixy ixz iyz"),
    leaf("ixx", "", "number"),
    leaf("iyy", "", "number"),
    leaf("izz", "", "number"),
    leaf("ixy", "", "number"),
    leaf("ixz", "", "number"),
    leaf("iyz", "", "number"),
    element("visual", "name=name", "pose geometry geometry material"),
    element(
        "collision",
        "name=name",
        "pose geometry geometry surface drake:proximity_properties density",
    ),
    element(
        "geometry",
        "",
        "box sphere cylinder capsule ellipsoid cone mesh plane empty polyline",
    ),
    element("box", "", "size"),
    leaf("size", "", "3"),
    element("sphere", "", "radius"),
    leaf("radius", "", "number"),
    leaf("length", "", "number"),
    element("cylinder", "", "radius length"),
    element("capsule", "", "radius length"),
    element("cone", "", "radius length"),
    element("ellipsoid", "", "radii"),
    leaf("radii", "", "3"),
    element("mesh", "", "uri scale drake:declare_convex"),
    leaf("scale", "", "3"),
    element("plane", "", "normal"),
    leaf("normal", "", "3"),
    element("surface", "", "friction"),
    element("friction", "", "ode"),
    element("ode", "", "mu mu2"),
    leaf("mu", "", "number"),
    leaf("mu2", "", "number"),
    element("material", "", "diffuse"),
    leaf("diffuse", "", "4"),
    element(
        "joint",
        "name=name type=revolute|continuous|prismatic|fixed|ball|universal|screw|revolute2",
        "pose parent parent child child axis axis axis2 screw_thread_pitch",
    ),
    element(
        "drake:joint",
        "name=name type=planar|curvilinear",
        "pose drake:parent drake:child drake:damping",
    ),
    leaf("parent", "", "name"),
    leaf("child", "", "name"),
    element("axis", "", "xyz limit dynamics mimic"),
    leaf("xyz", "expressed_in=name", "3"),
    element("limit", "", "lower upper effort velocity"),
    leaf("lower", "", "number"),
    leaf("upper", "", "number"),
    leaf("effort", "", "number"),
    element("mimic", "joint=name", "multiplier offset"),
    leaf("multiplier", "", "number"),
    element("dynamics", "", "damping spring_stiffness"),
    leaf("damping", "", "number"),
];

fuzz_target!(|bytes: &[u8]| {
    let text = grammar::document(bytes, &ELEMENTS);
    model::check(text.as_bytes(), "model.sdf");
});
