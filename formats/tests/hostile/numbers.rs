//! Huge and non-finite numbers, and masses and inertias that no body has.

use super::*;

/// Acceptance by each format, in the order of [`XML`].
type Accepted = [bool; 3];

const ALL: Accepted = [true; 3];
const NOTHING: [&str; 0] = [];
const NONE: Accepted = [false; 3];

/// Loads a model in each format; returns the formats whose acceptance differs from `accepted`.
fn check(what: &str, accepted: Accepted, inner: impl Fn(&str) -> String) -> Vec<String> {
    let mut wrong = vec![];
    for (format, accepted) in XML.into_iter().zip(accepted) {
        let found = load(&model(format, &inner(format)), format);
        if found.is_ok() != accepted {
            wrong.push(format!("{what} {format}: {}", found.error));
        }
    }
    wrong
}

#[test]
fn masses_and_inertias_are_accepted_as_in_drake() {
    let mut wrong = vec![];
    // Only Drake refuses MJCF bodies without a mass. Impossible values in URDF and SDFormat are
    // repaired with a warning.
    const REPAIRED: Accepted = [true, true, false];
    for (mass, [x, y, z], accepted) in [
        ("1", ["1", "1", "1"], ALL),
        ("1", ["0", "0", "0"], ALL),
        ("0", ["0", "0", "0"], ALL),
        ("0", ["1", "1", "1"], ALL),
        ("-1", ["1", "1", "1"], REPAIRED),
        ("-1", ["0", "0", "0"], REPAIRED),
        ("1", ["1", "1", "5"], REPAIRED),
        ("1", ["-1", "-1", "-1"], REPAIRED),
        ("nan", ["1", "1", "1"], [false, true, false]),
        ("inf", ["1", "1", "1"], [false, true, false]),
        ("1", ["nan", "1", "1"], [false, true, false]),
        // Drake's repair of these values overflows.
        ("1e308", ["1", "1", "1"], ALL),
        // Drake reads infinity only by its name, and does not repair an empty value.
        ("1e400", ["1", "1", "1"], [false, true, false]),
        ("x", ["1", "1", "1"], NONE),
        ("", ["1", "1", "1"], [false, true, false]),
    ] {
        wrong.extend(check(
            &format!("mass {mass}, inertia {x} {y} {z}"),
            accepted,
            |format| match format {
                "urdf" => format!(
                    "<link name='a'><inertial><mass value='{mass}'/><inertia ixx='{x}' ixy='0' ixz='0' iyy='{y}' \
                 iyz='0' izz='{z}'/></inertial></link>"
                ),
                "sdf" => format!(
                    "<link name='a'><inertial><mass>{mass}</mass><inertia><ixx>{x}</ixx><iyy>{y}</iyy><izz>{z}</izz>\
                 </inertia></inertial></link>"
                ),
                _ => format!(
                    "<body name='a'><joint/><inertial pos='0 0 0' mass='{mass}' diaginertia='{x} {y} {z}'/></body>"
                ),
            },
        ));
    }
    assert_eq!(wrong, NOTHING);
}

#[test]
fn sizes_are_accepted_as_in_drake() {
    let mut wrong = vec![];
    for (size, accepted) in [
        ("1", ALL),
        ("1e308", [true, true, false]),
        ("1e-320", ALL),
        ("0", [false, true, false]),
        ("-1", [false, true, false]),
        ("1e400", NONE),
        // Not positive: SDFormat leaves out the box and says so. An error in Drake.
        ("nan", [false, true, false]),
        ("inf", NONE),
        ("-inf", [false, true, false]),
    ] {
        wrong.extend(check(&format!("size {size}"), accepted, |format| match format {
            "urdf" => format!(
                "<link name='a'><collision><geometry><box size='{size} 1 1'/></geometry></collision></link>"
            ),
            "sdf" => format!(
                "<link name='a'><collision name='c'><geometry><box><size>{size} 1 1</size></box></geometry>\
                 </collision></link>"
            ),
            _ => format!("<body name='a'><geom type='box' size='{size} 1 1'/></body>"),
        }));
    }
    assert_eq!(wrong, NOTHING);
}

#[test]
fn poses_must_be_finite() {
    let mut wrong = vec![];
    for (x, accepted) in [
        ("1", ALL),
        // The pose of the model in its first link overflows, which Drake does not notice.
        ("1e308", [true, false, true]),
        ("1e-320", ALL),
        ("1e400", NONE),
        ("nan", NONE),
        ("inf", NONE),
        ("-inf", NONE),
        // Poses in SDFormat are read word by word, and text after the number in a word is ignored.
        ("0x1p3", [false, true, false]),
        ("1,5", [false, true, false]),
    ] {
        wrong.extend(check(&format!("pose {x}"), accepted, |format| match format {
            "urdf" => format!(
                "<link name='a'/><link name='b'/><joint name='j' type='fixed'><parent link='a'/>\
                 <child link='b'/><origin xyz='{x} 0 0' rpy='0 0 {x}'/></joint>"
            ),
            "sdf" => format!("<link name='a'><pose>{x} 0 0 0 0 {x}</pose></link>"),
            _ => format!("<body name='a' pos='{x} 0 0' euler='0 0 {x}'><geom size='1'/></body>"),
        }));
    }
    assert_eq!(wrong, NOTHING);
}

#[test]
fn limits_are_accepted_as_in_drake() {
    let mut wrong = vec![];
    for (upper, accepted) in [
        ("1", ALL),
        ("1e308", ALL),
        ("-1", ALL),
        // No limit; Drake reads this only in SDFormat.
        ("inf", ALL),
        // MuJoCo takes an empty range for none.
        ("-inf", [false, false, true]),
        ("nan", NONE),
        ("1e400", ALL),
    ] {
        wrong.extend(check(&format!("limit {upper}"), accepted, |format| match format {
            "urdf" => format!(
                "<link name='a'/><link name='b'/><joint name='j' type='revolute'><parent link='a'/>\
                 <child link='b'/><limit lower='-1' upper='{upper}' effort='1' velocity='1'/></joint>"
            ),
            "sdf" => format!(
                "<link name='a'/><link name='b'/><joint name='j' type='revolute'><parent>a</parent>\
                 <child>b</child><axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>{upper}</upper></limit>\
                 </axis></joint>"
            ),
            _ => format!("<body name='a'><joint range='-1 {upper}'/><geom size='1'/></body>"),
        }));
    }
    assert_eq!(wrong, NOTHING);
}

/// Each pose is finite, but their composition overflows.
#[test]
fn overflowing_sums_of_poses_do_not_panic() {
    const FAR: &str = "1.7e308";
    let geometry = "<collision name='c'><pose>1.7e308 0 0 0 0 0</pose><geometry><sphere><radius>1.7e308</radius>\
                    </sphere></geometry></collision>";
    for text in [
        format!(
            "<pose>{FAR} 0 0 0 0 0</pose><link name='a'><pose>{FAR} 0 0 0 0 0</pose>{geometry}</link>\
             <model name='n'><pose>{FAR} 0 0 0 0 1</pose><link name='b'><pose>{FAR} {FAR} 0 1 1 0</pose></link>\
             </model><joint name='j' type='ball'><parent>a</parent><child>n::b</child></joint>"
        ),
        format!(
            "<link name='a'/><frame name='f'><pose>{FAR} 0 0 0 0 0</pose></frame><frame name='g'>\
             <pose relative_to='f'>{FAR} 0 0 0 0 0</pose></frame><link name='b'>\
             <pose relative_to='g'>-{FAR} 0 0 0 0 0</pose></link><joint name='j' type='fixed'><parent>a</parent>\
             <child>b</child></joint>"
        ),
    ] {
        load(&model("sdf", &text), "sdf");
    }
    let mut urdf = String::from("<link name='l0'/>");
    let mut mjcf = String::new();
    for i in 1..5 {
        urdf += &format!(
            "<link name='l{i}'><inertial><origin xyz='{FAR} 0 0'/><mass value='1'/><inertia ixx='1' ixy='0' \
             ixz='0' iyy='1' iyz='0' izz='1'/></inertial><collision><origin xyz='{FAR} 0 0'/><geometry>\
             <sphere radius='{FAR}'/></geometry></collision></link><joint name='j{i}' type='revolute'>\
             <parent link='l{}'/><child link='l{i}'/><origin xyz='{FAR} 0 0' rpy='{FAR} 1 1'/></joint>",
            i - 1
        );
        mjcf += &format!(
            "<body pos='{FAR} 0 0' euler='{FAR} 1 1'><joint pos='{FAR} 0 0' ref='{FAR}'/>\
             <geom type='capsule' size='{FAR}' fromto='{FAR} 0 0 -{FAR} 0 0' density='{FAR}'/>"
        );
    }
    load(&model("urdf", &urdf), "urdf");
    load(&model("xml", &(mjcf + &"</body>".repeat(4))), "xml");
    let yaml = format!(
        "directives:\n- add_frame: {{name: f, X_PF: {{base_frame: world, translation: [{FAR}, 0, 0]}}}}\n\
         - add_frame: {{name: g, X_PF: {{base_frame: f, translation: [{FAR}, 0, 0], \
         rotation: !Rpy {{deg: [{FAR}, {FAR}, {FAR}]}}}}}}\n"
    );
    load(&yaml, "dmd.yaml");
}

#[test]
fn numbers_in_directives_must_be_finite() {
    for (x, accepted) in [
        ("1", true),
        ("1e308", true),
        ("1e400", false),
        (".nan", false),
        (".inf", false),
        ("x", false),
    ] {
        for rotation in [
            "",
            ", rotation: !Rpy {deg: [0, 0, X]}",
            ", rotation: !AngleAxis {angle_deg: X, axis: [0, 0, 1]}",
        ] {
            let text = format!(
                "directives: [{{add_frame: {{name: f, X_PF: {{base_frame: world, translation: [{x}, 0, 0]{}}}}}}}]",
                rotation.replace('X', x)
            );
            let found = load(&text, "dmd.yaml");
            assert_eq!(found.is_ok(), accepted, "{text}: {}", found.error);
        }
    }
}
