//! Numbers with trailing text and malformed XML declarations. They are accepted where Drake accepts
//! them, with a warning at their position. The values are those of pydrake 1.51.1 for the same
//! text.

use super::*;
use nalgebra::Vector3;
use tarragon_documents::Severity;

fn load_strictly(text: &str, format: &str) -> Outcome {
    load_with(|p| {
        p.set_strict_parsing(true);
        p.add_models_from_string(text, format)
    })
}

/// Checks that a text loads with one warning, which contains `word` and has the given line and
/// column, and that strict parsing refuses the text.
fn told(text: &str, format: &str, word: &str, place: (u32, u32)) -> Outcome {
    let found = load(text, format);
    assert!(found.is_ok(), "{}", found.error);
    let [warning] = found.diagnostics.as_slice() else {
        panic!("{text}: {:?}", found.diagnostics);
    };
    assert_eq!(warning.severity, Severity::Warning);
    assert!(warning.message.contains(word), "{}", warning.message);
    assert_eq!((warning.line, warning.column), place, "{warning}");
    load_strictly(text, format).says(&[&warning.message]);
    found
}

/// A model whose joint `j` has the given upper position limit.
fn limited(format: &str, upper: &str) -> String {
    model(
        format,
        &match format {
            "urdf" => format!(
                "<link name='a'/><link name='b'/><joint name='j' type='revolute'><parent link='a'/>\
                 <child link='b'/>\n<limit lower='-1e9' upper='{upper}'/></joint>"
            ),
            "sdf" => format!(
                "<link name='a'/><link name='b'/><joint name='j' type='revolute'><parent>a</parent>\
                 <child>b</child><axis><xyz>0 0 1</xyz><limit><lower>-1e9</lower>\n<upper>{upper}</upper>\
                 </limit></axis></joint>"
            ),
            _ => format!(
                "<body name='a'><joint name='j' type='slide'\nrange='-1e9 {upper}'/><geom size='1'/></body>"
            ),
        },
    )
}

fn upper_limit(found: &Outcome) -> f64 {
    let joint = found.plant.joint_by_name("j").unwrap();
    found.plant.joint(joint).unwrap().position_upper_limits()[0]
}

#[test]
fn text_after_a_number_is_ignored_with_a_warning() {
    for (text, ignored, value) in [
        ("0.5,", "','", 0.5),
        ("1u", "'u'", 1.0),
        ("2.3&quot;", "'\"'", 2.3),
        ("1.5rad", "'rad'", 1.5),
        ("-.5e1x", "'x'", -5.0),
        ("1 ,", "','", 1.0),
        ("1_000", "'_000'", 1.0),
        ("0,5", "',5'", 0.0),
        ("1;2", "';2'", 1.0),
    ] {
        for (format, place) in [("urdf", (2, 21)), ("sdf", (2, 1)), ("xml", (2, 1))] {
            let found = told(&limited(format, text), format, ignored, place);
            assert_eq!(upper_limit(&found), value, "{format} {text}");
        }
    }
}

#[test]
fn a_second_number_after_a_number_is_an_error_except_in_sdformat() {
    // To the streams that read URDF and MJCF, the rest is another number. SDFormat ignores the rest
    // of a single number.
    for format in ["urdf", "xml"] {
        load(&limited(format, "1.2.3"), format).says(&["'1.2.3'", "must hold numbers"]);
        load(&limited(format, "1-2"), format).says(&["'1-2'", "must hold numbers"]);
        load(&limited(format, "1 2"), format).says(&["must have"]);
    }
    for (text, value) in [
        ("1.2.3", 1.2),
        ("1-2", 1.0),
        ("1 2", 1.0),
        ("1e", 1.0),
        ("1e+x", 1.0),
    ] {
        let found = told(&limited("sdf", text), "sdf", "ignored", (2, 1));
        assert_eq!(upper_limit(&found), value, "{text}");
    }
    for text in ["1e", "1e+", "x1", ",1", "--1", "."] {
        for format in ["urdf", "xml"] {
            load(&limited(format, text), format).says(&["must hold numbers"]);
        }
    }
    for text in ["x1", ",1", "--1", "."] {
        load(&limited("sdf", text), "sdf").says(&["must hold numbers"]);
    }
}

#[test]
fn hexadecimal_numbers_are_read_as_in_drake() {
    for (text, value) in [("0x10", 16.0), ("-0X1.8p3", -12.0), ("0x.1", 0.0625)] {
        let found = load(&limited("sdf", text), "sdf");
        assert_eq!((upper_limit(&found), found.diagnostics.len()), (value, 0));
    }
    for (format, place) in [("urdf", (2, 21)), ("xml", (2, 1))] {
        let found = told(&limited(format, "0x10"), format, "'x10'", place);
        assert_eq!(upper_limit(&found), 0.0);
    }
    let found = told(&limited("sdf", "0xg"), "sdf", "'xg'", (2, 1));
    assert_eq!(upper_limit(&found), 0.0);
}

/// A model with a frame or body `f` at the given position.
fn placed(format: &str, xyz: &str) -> String {
    model(
        format,
        &match format {
            "urdf" => format!("<link name='a'/><frame name='f' link='a'\nxyz='{xyz}'/>"),
            "sdf" => format!("<link name='a'/><frame name='f'>\n<pose>{xyz} 0 0 0</pose></frame>"),
            _ => format!("<body name='f'\npos='{xyz}'><geom size='1'/></body>"),
        },
    )
}

fn translation(found: &Outcome, format: &str) -> Vector3<f64> {
    let plant = &found.plant;
    match format {
        "xml" => {
            let plant = plant.clone().build().unwrap();
            let mut poses = vec![];
            let q = plant.default_positions();
            plant.calc_body_poses(&q, &mut poses).unwrap();
            let body = plant.body_by_name("f").unwrap();
            poses[body.index()].translation.vector
        }
        _ => {
            let frame = plant.frame_by_name("f").unwrap();
            plant
                .frame(frame)
                .unwrap()
                .pose_in_body()
                .translation
                .vector
        }
    }
}

#[test]
fn text_after_a_complete_vector_is_ignored_with_a_warning() {
    for format in ["urdf", "xml"] {
        for (text, ignored) in [("1 2 3,", "','"), ("1 2 3x", "'x'"), ("1 2 3 , 4", "', 4'")] {
            let found = told(&placed(format, text), format, ignored, (2, 1));
            assert_eq!(translation(&found, format), Vector3::new(1.0, 2.0, 3.0));
        }
        let found = load(&placed(format, "1-2-3"), format);
        assert_eq!(translation(&found, format), Vector3::new(1.0, -2.0, -3.0));
        assert_eq!(found.diagnostics.len(), 0);
        for text in ["1, 2, 3", "1,2,3", "1u 2 3", "1 2", "1 2 3 4"] {
            assert!(!load(&placed(format, text), format).is_ok(), "{text}");
        }
    }
}

#[test]
fn poses_and_colours_of_sdformat_are_read_word_by_word() {
    let found = told(&placed("sdf", "1, 2, 0x3u"), "sdf", "','", (2, 1));
    assert_eq!(translation(&found, "sdf"), Vector3::new(1.0, 2.0, 3.0));
    for text in ["1,2,3", "1 2 3 4", "1 2 x", "1 2 ,"] {
        assert!(!load(&placed("sdf", text), "sdf").is_ok(), "{text}");
    }
    let visual = |color: &str| {
        let shape = "<geometry><sphere><radius>1</radius></sphere></geometry>";
        let look = format!("<material>\n<diffuse>{color}</diffuse></material>");
        let text = format!("<link name='a'><visual name='v'>{shape}{look}</visual></link>");
        model("sdf", &text)
    };
    told(&visual("0.5, 0.5, 0.5"), "sdf", "','", (2, 1));
    told(&visual("1 0 0 1x"), "sdf", "'x'", (2, 1));
    for color in ["1,0,0", "1 0", "1 0 0 1 1", "2, 0, 0"] {
        assert!(!load(&visual(color), "sdf").is_ok(), "{color}");
    }
    let axis = |xyz: &str| {
        let axis = format!("<axis>\n<xyz>{xyz}</xyz></axis>");
        limited("sdf", "1").replace("<axis><xyz>0 0 1</xyz>", &axis.replace("</axis>", ""))
    };
    told(&axis("0 0 1,"), "sdf", "','", (2, 1));
    assert!(!load(&axis("0, 0, 1"), "sdf").is_ok());
}

#[test]
fn numbers_in_drake_elements_follow_the_same_rules() {
    let gear = |ratio: &str| {
        let ratio = format!("\n<drake:gear_ratio>{ratio}</drake:gear_ratio></joint>");
        limited("sdf", "1").replace("</joint>", &ratio)
    };
    let found = told(&gear("7,"), "sdf", "','", (3, 1));
    assert_eq!(found.plant.actuators()[0].default_gear_ratio(), 7.0);
    let mimic = "<joint name='k' type='revolute'><parent>b</parent><child>c</child><axis><xyz>0 0 1</xyz></axis>\
                 \n<drake:mimic joint='j' multiplier='2,' offset='0'/></joint><link name='c'/></model>";
    let found = told(
        &limited("sdf", "1").replace("</model>", mimic),
        "sdf",
        "','",
        (3, 1),
    );
    let coupler = found.plant.coupler_constraints().next().unwrap();
    assert_eq!(coupler.gear_ratio, 2.0);
    let urdf = limited("urdf", "1").replace("<limit", "<limit\ndrake:acceleration='4,'");
    let urdf = urdf.replace("<robot", "<robot xmlns:drake='d'");
    let found = told(&urdf, "urdf", "','", (3, 1));
    let (_, joint) = found.plant.joints().next().unwrap();
    assert_eq!(joint.acceleration_upper_limits(), [4.0]);
}

#[test]
fn an_attribute_that_is_read_twice_is_reported_once() {
    let text = limited("urdf", "1").replace("upper", "effort='5N' upper");
    let motors = ["m", "n"].map(|name| {
        format!(
            "<transmission><type>SimpleTransmission</type><joint name='j'/><actuator name='{name}'/></transmission>"
        )
    });
    let text = text.replace("</robot>", &(motors.concat() + "</robot>"));
    let found = told(&text, "urdf", "'N'", (2, 21));
    assert_eq!(found.plant.actuators()[1].effort_limit(), 5.0);
    let class =
        "<default><geom\nsize='1,'/></default><worldbody><geom/><body><geom/></body></worldbody>";
    told(
        &format!("<mujoco model='r'>{class}</mujoco>"),
        "xml",
        "','",
        (2, 1),
    );
}

#[test]
fn malformed_xml_declarations_are_reported() {
    for format in XML {
        let good = model(format, &body(format, "a"));
        for declaration in [
            "<?xml?>",
            "<?xml encoding='utf-8'?>",
            "<?xml version=1.0?>",
            "<?xml version='1.0' foo='x'?>",
        ] {
            let text = format!("{declaration}\n{good}");
            told(&text, format, declaration, (1, 1));
            told(&format!(" \n {text}"), format, declaration, (2, 2));
            // Positions after the declaration are those in the file.
            let broken = format!("{declaration}\n{}", good.replace("'a'", "'a"));
            load(&broken, format).says(&[":2:"]);
        }
        for declarations in [
            "<?xml version='1.0'?>",
            "\n <?xml version='1.0' encoding='UTF-8'?>",
        ] {
            let found = load(&format!("{declarations}\n{good}"), format);
            assert_eq!((found.error.as_str(), found.diagnostics.len()), ("", 0));
        }
        let twice = "<?xml version='1.0'?>\n<?xml version='1.0'?>";
        told(&format!("{twice}\n{good}"), format, "<?xml", (2, 1));
        for broken in [
            "<?xml version='1.0'>",
            "<?xml",
            "<!-- --><?xml version='1.0'?>",
        ] {
            assert!(
                !load(&format!("{broken}\n{good}"), format).is_ok(),
                "{broken}"
            );
        }
    }
}
