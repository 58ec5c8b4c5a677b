"""Broken models for tests of error messages: one defect each, named by the file."""

INERTIAL = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
)
SPHERE = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'


def link(name, content=INERTIAL + SPHERE):
    return f'  <link name="{name}">{content}</link>'


def joint(name, parent, child, kind="revolute", axis="0 0 1"):
    return (
        f'  <joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
    )


def robot(name, *elements):
    return "\n".join([f'<?xml version="1.0"?>\n<robot name="{name}">', *elements, "</robot>"]) + "\n"


def mesh_link(filename):
    return link("a", f'{INERTIAL}<visual><geometry><mesh filename="{filename}"/></geometry></visual>'
                     f'<collision><geometry><mesh filename="{filename}"/></geometry></collision>')


TETRAHEDRON = ["v 0 0 0", "v 0.1 0 0", "v 0 0.1 0", "v 0 0 0.1", "f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4"]


def obj(comment, **changes):
    lines = list(TETRAHEDRON)
    for key, line in changes.items():
        lines[int(key[1:])] = line
    return "\n".join([f"# {comment}"] + lines) + "\n"


def files():
    a, b, ab = link("a"), link("b"), joint("ab", "a", "b")
    return {
        "empty.urdf": "",
        "malformed_xml.urdf": robot("malformed_xml", a, '  <link name="b">', ab),
        "not_a_robot.xml": '<?xml version="1.0"?>\n<recipe name="not_a_robot">\n  <step>Stir.</step>\n</recipe>\n',
        "unknown_joint_type.urdf": robot("unknown_joint_type", a, b, joint("ab", "a", "b", kind="telescopic")),
        "missing_parent.urdf": robot("missing_parent", a, b, joint("ab", "nowhere", "b")),
        "missing_child.urdf": robot("missing_child", a, b, joint("ab", "a", "nowhere")),
        "duplicate_link.urdf": robot("duplicate_link", a, b, link("b"), ab),
        "duplicate_joint.urdf": robot("duplicate_joint", a, b, link("c"), ab, joint("ab", "b", "c")),
        "loop.urdf": robot("loop", a, b, link("c"), ab, joint("bc", "b", "c"), joint("ac", "a", "c")),
        "zero_axis.urdf": robot("zero_axis", a, b, joint("ab", "a", "b", axis="0 0 0")),
        "bad_number.urdf": robot("bad_number", link("a", INERTIAL + SPHERE.replace('"0.1"', '"0.1.2"'))),
        "negative_mass.urdf": robot("negative_mass", link("a", INERTIAL.replace('value="1"', 'value="-1"') + SPHERE)),
        "bad_inertia.urdf": robot("bad_inertia", link("a", INERTIAL.replace('izz="0.01"', 'izz="0.05"') + SPHERE)),
        "missing_mesh.urdf": robot("missing_mesh", mesh_link("meshes/not_there.obj")),
        "nan_mesh.urdf": robot("nan_mesh", mesh_link("meshes/nan.obj")),
        "bad_index_mesh.urdf": robot("bad_index_mesh", mesh_link("meshes/bad_index.obj")),
        "meshes/nan.obj": obj("The third vertex is not a number.", _2="v 0 nan 0"),
        "meshes/bad_index.obj": obj("The last face names a ninth vertex; there are four.", _7="f 2 3 9"),
    }
