//! Reads SDFormat from a grammar: nested and included models, poses relative to frames, and Drake's
//! elements.
#![no_main]

#[path = "support/grammar.rs"]
mod grammar;
#[path = "support/model.rs"]
mod model;

use grammar::Element;
use libfuzzer_sys::fuzz_target;

const ELEMENTS: [Element; 60] = [
    Element::new("sdf", "version=1.0|1.4|1.7|1.9|1.12|9", "model model world"),
    Element::new("world", "name=name", "model include frame joint gravity"),
    Element::with_text("gravity", "", "3"),
    Element::new(
        "model",
        "name=name canonical_link=name placement_frame=name",
        "pose link link link joint joint frame model include static drake:joint \
         drake:collision_filter_group drake:ball_constraint drake:linear_bushing_rpy",
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
        "pose drake:parent drake:child drake:damping",
    ),
    Element::with_text("parent", "", "name"),
    Element::with_text("child", "", "name"),
    Element::new("axis", "", "xyz limit dynamics mimic"),
    Element::with_text("xyz", "expressed_in=name", "3"),
    Element::new("limit", "", "lower upper effort velocity"),
    Element::with_text("lower", "", "number"),
    Element::with_text("upper", "", "number"),
    Element::with_text("effort", "", "number"),
    Element::new("mimic", "joint=name", "multiplier offset"),
    Element::with_text("multiplier", "", "number"),
    Element::new("dynamics", "", "damping spring_stiffness"),
    Element::with_text("damping", "", "number"),
];

fuzz_target!(|bytes: &[u8]| {
    let text = grammar::document(bytes, &ELEMENTS);
    model::check(text.as_bytes(), "model.sdf");
});
