//! Files with deformable links, valid and invalid.

use crate::sdf::model;
use tempfile::TempDir;

/// Two tetrahedra on a common face.
const VTK: &str = "# vtk DataFile Version 3.0\ntwo\nASCII\nDATASET UNSTRUCTURED_GRID\n\
POINTS 5 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\nCELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\n\
CELL_TYPES 2\n10\n10\n";
/// A triangle inside of them.
const INSIDE: &str = "v 0.1 0.1 0.1\nv 0.3 0.1 0.1\nv 0.1 0.3 0.1\nvn 0 0 1\nf 1//1 2//1 3//1\n";
/// A triangle that is partly outside.
const OUTSIDE: &str = "v 5 0.1 0.1\nv 0.3 0.1 0.1\nv 0.1 0.3 0.1\nvn 0 0 1\nf 1//1 2//1 3//1\n";

const MESH: &str = "<geometry><mesh><uri>two.vtk</uri></mesh></geometry>";
pub(super) const BALL: &str = "<geometry><sphere><radius>0.1</radius></sphere></geometry>";

pub(super) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("two.vtk", VTK), ("in.obj", INSIDE), ("out.obj", OUTSIDE)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn properties(inner: &str) -> String {
    format!("<drake:deformable_properties>{inner}</drake:deformable_properties>")
}
fn collision(inner: &str) -> String {
    format!("<collision name='c'>{inner}</collision>")
}
fn visual(inner: &str) -> String {
    format!("<visual name='v'>{inner}</visual>")
}
pub(super) fn wall(point: &str, normal: &str) -> String {
    format!(
        "<drake:wall_boundary_condition><drake:point_on_plane>{point}</drake:point_on_plane>\
         <drake:outward_normal>{normal}</drake:outward_normal></drake:wall_boundary_condition>"
    )
}
pub(super) fn contact(shape: &str, inner: &str) -> String {
    let contact = format!("<drake:proximity_properties>{inner}</drake:proximity_properties>");
    link(&(properties("") + &collision(&(shape.to_string() + &contact))))
}
fn link(inner: &str) -> String {
    model(&format!("<link name='l'>{inner}</link>"))
}
/// A valid deformable link with more in it.
pub(super) fn with(inner: &str) -> String {
    link(&(properties("") + &collision(MESH) + inner))
}
/// A deformable link whose material has an element with a text.
fn material(name: &str, text: &str) -> String {
    let element = format!("<drake:{name}>{text}</drake:{name}>");
    link(&(properties(&element) + &collision(MESH)))
}
/// A model with a valid deformable link and more.
pub(super) fn beside(inner: &str) -> String {
    let soft = properties("") + &collision(MESH);
    model(&format!(
        "<link name='l'><pose>1 0 0 0 0 0</pose>{soft}</link>{inner}"
    ))
}

/// Reason for not asking Drake.
pub(super) const ABORTS: &str = "Drake ends the process";

/// A file: its outcome is that of Drake, unless it is one of `ours`.
pub(super) struct Case {
    pub(super) text: String,
    /// Reason why one of Drake and this parser accepts it and the other does not.
    pub(super) ours: Option<&'static str>,
    /// Part of the only message, `None` if there is none.
    pub(super) said: Option<&'static str>,
}

pub(super) fn cases() -> Vec<Case> {
    let embedded = |file: &str, rest: &str| {
        let mesh = format!("<geometry><mesh><uri>{file}</uri></mesh></geometry>");
        with(&visual(&(mesh + rest)))
    };
    let off = |role: &str| format!("<drake:{role}_properties enabled='false'/>");
    let red = "<material><diffuse>1 0 0 1</diffuse></material>";
    let empty = "<geometry><empty/></geometry>";
    let rigid = "<link name='r'><collision name='b'><geometry><sphere><radius>1</radius></sphere>\
                 </geometry></collision></link>";
    let group = |members: &str| {
        let ignored =
            "<drake:ignored_collision_filter_group>g</drake:ignored_collision_filter_group>";
        format!(
            "{rigid}<drake:collision_filter_group name='g'>{members}{ignored}\
             </drake:collision_filter_group>"
        )
    };
    let all = "<drake:youngs_modulus>1e5</drake:youngs_modulus>\
               <drake:poissons_ratio>.3</drake:poissons_ratio>\
               <drake:mass_damping>.1</drake:mass_damping>\
               <drake:stiffness_damping>.2</drake:stiffness_damping>\
               <drake:mass_density>900</drake:mass_density>\
               <drake:material_model>neohookean</drake:material_model>";
    let joint = "<link name='r'/><joint name='j' type='revolute'><parent>r</parent><child>l</child>\
                 <axis><xyz>0 0 1</xyz></axis></joint>";
    let list: Vec<(String, Option<&'static str>)> = vec![
        (with(""), None),
        (link(&(properties(all) + &collision(MESH))), None),
        (material("material_model", "linear"), None),
        (material("material_model", " linear_corotated "), None),
        (material("material_model", "corotated"), None),
        (
            material("material_model", "rubber"),
            Some("must be linear, linear_corotated, corotated or neohookean, got 'rubber'"),
        ),
        (material("material_model", ""), Some("got ''")),
        (
            material("youngs_modulus", "-1"),
            Some("must be positive, got -1.0"),
        ),
        (
            material("youngs_modulus", "stiff"),
            Some("must hold numbers, got 'stiff'"),
        ),
        (
            material("youngs_modulus", ""),
            Some("must have 1 number, got 0"),
        ),
        (
            material("poissons_ratio", ".5"),
            Some("must be greater than -1 and less than 0.5, got 0.5"),
        ),
        (
            material("mass_density", "0"),
            Some("must be positive, got 0.0"),
        ),
        (
            material("mass_damping", "-1"),
            Some("must be at least 0, got -1.0"),
        ),
        (
            material("stiffness_damping", "-1"),
            Some("must be at least 0, got -1.0"),
        ),
        (
            material("element_subdivision_count", "1"),
            Some("<drake:element_subdivision_count> is not supported"),
        ),
        (
            link(&(properties("<youngs_modulus>1e5</youngs_modulus>") + &collision(MESH))),
            Some("warning: <youngs_modulus> in <drake:deformable_properties>"),
        ),
        (
            link(
                &(properties(
                    "<drake:mass_density>10</drake:mass_density>\
                     <drake:mass_density>20</drake:mass_density>",
                ) + &collision(MESH)),
            ),
            Some("warning: another <drake:mass_density>"),
        ),
        (
            with(&properties("")),
            Some("warning: another <drake:deformable_properties>"),
        ),
        // Shapes.
        (link(&properties("")), Some("must have a <collision>")),
        (
            with("<collision name='d'/>"),
            Some("must have exactly one <collision>, got 2"),
        ),
        (
            link(
                &(properties("")
                    + &collision("<geometry><box><size>1 1 1</size></box></geometry>")),
            ),
            Some("got a Box"),
        ),
        (
            link(
                &(properties("")
                    + &collision("<geometry><mesh><uri>in.obj</uri></mesh></geometry>")),
            ),
            Some("got a mesh of a .obj file"),
        ),
        (
            link(
                &(properties("")
                    + &collision(
                        "<geometry><mesh><uri>two.vtk</uri><drake:declare_convex/></mesh></geometry>",
                    )),
            ),
            Some("got a Convex"),
        ),
        (
            link(&(properties("") + &collision(""))),
            Some("has no <geometry>"),
        ),
        (
            link(&(properties("") + &collision(empty))),
            Some("must hold a <mesh> of a .vtk file or a <sphere>"),
        ),
        (
            link(
                &(properties("")
                    + &collision("<geometry><mesh><uri>none.vtk</uri></mesh></geometry>")),
            ),
            Some("none.vtk"),
        ),
        (
            link(
                &(properties("")
                    + &collision(
                        "<geometry><mesh><uri>two.vtk</uri><scale>2 1 .5</scale></mesh></geometry>",
                    )),
            ),
            None,
        ),
        (
            link(&(properties("") + &collision(&format!("<pose>1 2 3 0 0 0</pose>{MESH}")))),
            Some("warning: <pose> in <collision> is ignored: the pose of the link"),
        ),
        // Contact.
        (
            contact(
                MESH,
                "<drake:mu_dynamic>1.15</drake:mu_dynamic><drake:hunt_crossley_dissipation>10\
                 </drake:hunt_crossley_dissipation><drake:relaxation_time>.2</drake:relaxation_time>",
            ),
            None,
        ),
        (contact(MESH, ""), None),
        (
            contact(
                MESH,
                "<drake:hunt_crossley_dissipation>3</drake:hunt_crossley_dissipation>",
            ),
            None,
        ),
        (
            contact(MESH, "<drake:mu_static>1</drake:mu_static>"),
            Some("<drake:mu_static> is not supported in <drake:proximity_properties>"),
        ),
        (
            contact(
                MESH,
                "<drake:hydroelastic_modulus>1e5</drake:hydroelastic_modulus>",
            ),
            Some("<drake:hydroelastic_modulus> is not supported"),
        ),
        (
            contact(
                MESH,
                "<drake:mesh_resolution_hint>1</drake:mesh_resolution_hint>",
            ),
            Some("<drake:mesh_resolution_hint> is not supported"),
        ),
        (
            contact(MESH, "<drake:mu_dynamic>-1</drake:mu_dynamic>"),
            Some("<drake:mu_dynamic> must be at least 0, got -1.0"),
        ),
        (
            contact(MESH, "<drake:relaxation_time>-1</drake:relaxation_time>"),
            Some("<drake:relaxation_time> must be at least 0, got -1.0"),
        ),
        (
            link(
                &(properties("")
                    + &collision(&format!(
                        "{MESH}<surface><friction><ode><mu>.1</mu></ode></friction></surface>"
                    ))),
            ),
            Some("warning: <surface> in <collision> is ignored: friction is <drake:mu_dynamic>"),
        ),
        // Other elements of a link.
        (
            with("<inertial><mass>1</mass></inertial>"),
            Some("warning: <inertial> in <link> is ignored: <drake:mass_density>"),
        ),
        (
            with("<gravity>false</gravity>"),
            Some("warning: <gravity> in <link>"),
        ),
        (with("<gravity>true</gravity>"), None),
        (
            with("<kinematic>true</kinematic>"),
            Some("warning: <kinematic> in <link>"),
        ),
        (
            with("<sensor name='s' type='camera'/>"),
            Some("warning: <sensor> in <link>"),
        ),
        (
            with("<drake:foo/>"),
            Some("<drake:foo> is not supported in <link>"),
        ),
        (with(&wall(".5 0 0", "2 0 0")), None),
        (with(&wall("-5 0 0", "1 0 0")), None),
        (
            with(&(wall(".5 0 0", "2 0 0") + &wall("0 .5 0", "0 1 0"))),
            None,
        ),
        (
            with(&wall(".5 0 0", "0 0 0")),
            Some("<drake:outward_normal> must not be zero"),
        ),
        (
            model(&format!(
                "<link name='l'>{}</link>",
                wall(".5 0 0", "1 0 0")
            )),
            Some("<drake:wall_boundary_condition> is not supported in <link>"),
        ),
        // Visuals.
        (with(&visual(&format!("{empty}{red}"))), None),
        (with(&visual(red)), None),
        (embedded("in.obj", ""), None),
        (embedded("in.obj", red), None),
        (embedded("none.obj", ""), Some("none.obj")),
        (
            embedded("out.obj", ""),
            Some("point 0 must be inside the undeformed mesh"),
        ),
        (
            embedded("in.obj", &off("perception")),
            Some("warning: the <mesh> of visual 'v' is ignored"),
        ),
        (
            with(&visual(&(empty.to_string() + &off("illustration")))),
            Some("warning: visual 'v' is disabled for illustration"),
        ),
        (
            with(&visual(&(empty.to_string() + &off("perception")))),
            None,
        ),
        (
            with(&visual(&format!("<pose>1 0 0 0 0 0</pose>{empty}"))),
            Some("warning: <pose> in <visual> is ignored"),
        ),
        (with(&visual(BALL)), Some("warning: <sphere> in <geometry>")),
        (
            with(&visual(&format!("{empty}<transparency>.5</transparency>"))),
            Some("warning: <transparency> in <visual>"),
        ),
        (
            with(&(visual(empty) + &format!("<visual name='w'>{empty}</visual>"))),
            Some("must have at most one <visual>, got 2"),
        ),
        // Around the link.
        (beside("<static>true</static>"), None),
        (beside("<frame name='f'/>"), None),
        (
            beside("<frame name='f'><pose relative_to='l'>0 0 1 0 0 0</pose></frame>"),
            None,
        ),
        (
            beside("<frame name='f'/><frame name='g' attached_to='f'/>"),
            None,
        ),
        (beside(joint), Some("is not a rigid body")),
        (beside(rigid), None),
        (
            beside(&group(
                "<drake:member>l</drake:member><drake:member>r</drake:member>",
            )),
            None,
        ),
        (beside(&group("<drake:member>r</drake:member>")), None),
        (
            beside(&format!(
                "<model name='n'><pose>0 0 3 0 0 1</pose><link name='l'>{}{}</link></model>",
                properties(""),
                collision(MESH)
            )),
            None,
        ),
    ];
    let same = |(text, said)| Case {
        text,
        ours: None,
        said,
    };
    let mut cases: Vec<Case> = list.into_iter().map(same).collect();
    let mut differ = |text: String, ours, said| {
        cases.push(Case {
            text,
            ours: Some(ours),
            said,
        });
    };
    differ(
        beside("<frame name='f' attached_to='l'/>"),
        ABORTS,
        Some("is not a rigid body"),
    );
    differ(
        material("youngs_modulus", "inf"),
        "Drake computes with infinities",
        Some("the numbers must be finite"),
    );
    differ(
        with(&wall("", "1 0 0")),
        "Drake takes an empty point for the origin",
        Some("<drake:point_on_plane>: the text must have 3 numbers, got 0"),
    );
    differ(
        contact(
            BALL,
            "<drake:mesh_resolution_hint>.1</drake:mesh_resolution_hint>",
        ),
        "Drake's spheres have no resolution",
        None,
    );
    cases
}
