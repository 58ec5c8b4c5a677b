//! Misspelt names of elements and attributes. A new user's programs loaded `<mas value="1"/>`,
//! `<axes>`, `<goem>` and `tpye=` without a word. The correct names come from the formats: ROS's
//! URDF, SDFormat 1.12 and MuJoCo 3.3.7, which refuses the misspelt MJCF files.

use crate::support::loaded::{Loaded, load_with};
use tarragon_documents::Severity;
use tarragon_formats::{MjcfSemantics, OnWarning};

fn load(text: &str, format: &str) -> Loaded {
    load_with(|parser| parser.add_models_from_string(text, format))
}

fn said(model: &Loaded) -> Vec<String> {
    let said = model.diagnostics.iter().map(ToString::to_string);
    said.filter(|text| text.contains("did you mean")).collect()
}

#[test]
fn near_names_are_suggested_in_urdf() {
    let model = load(
        "<robot name='r'><link name='a'/><link name='b'><inertial><mas value='1'/></inertial></link>
<joint name='j' type='revolute'><parent link='a'/><child link='b'/><axes xyz='0 1 0'/>
<limit efort='1' velocity='1' lower='0' upper='1'/></joint></robot>",
        "urdf",
    );
    assert_eq!(
        said(&model),
        [
            "<literal>.urdf:1:58: warning: <mas> in <inertial> is ignored: URDF has no such element; \
             did you mean <mass>?",
            "<literal>.urdf:2:68: warning: <axes> in <joint> is ignored: URDF has no such element; \
             did you mean <axis>?",
            "<literal>.urdf:3:1: warning: attribute 'efort' of <limit> is ignored: URDF has no such \
             attribute; did you mean 'effort'?",
        ]
    );
}

#[test]
fn near_names_are_suggested_in_both_readings_of_mjcf() {
    let text = "<mujoco model='m'><worldbody><body name='b'><goem size='.1'/>
<geom tpye='box' size='.1 .1 .1'/></body></worldbody></mujoco>";
    for semantics in [MjcfSemantics::MuJoCo, MjcfSemantics::Drake] {
        let model = load_with(|parser| {
            parser.set_mjcf_semantics(semantics);
            parser.add_models_from_string(text, "xml")
        });
        let said = said(&model);
        assert_eq!(said.len(), 2, "{said:?}");
        let element =
            ":1:45: warning: <goem> is ignored: the element is unknown; did you mean <geom>?";
        assert!(said.iter().any(|text| text.contains(element)), "{said:?}");
        let attribute =
            "'tpye' of <geom> is ignored: MJCF has no such attribute; did you mean 'type'?";
        assert!(
            said.iter()
                .any(|text| text.contains(":2:7: ") && text.contains(attribute)),
            "{said:?}"
        );
    }
}

#[test]
fn near_names_are_suggested_in_sdformat() {
    let link = |content: &str| {
        let text = format!(
            "<sdf version='1.9'><model name='m'><link name='a'>{content}</link></model></sdf>"
        );
        said(&load(&text, "sdf"))
    };
    let mass = link("<inertial><mas>1</mas></inertial>");
    assert!(mass[0].ends_with("did you mean <mass>?"), "{mass:?}");
    let frame = link("<pose relative_too='m'>1 2 3 0 0 0</pose>");
    assert!(
        frame[0].ends_with("did you mean 'relative_to'?"),
        "{frame:?}"
    );
    // A misspelling in an element without effect only causes a warning.
    let ray = link("<sensor name='s' type='ray'><ray><rnage><min>0</min></rnage></ray></sensor>");
    assert!(
        ray.iter()
            .all(|said| said.contains("did you mean <range>?")),
        "{ray:?}"
    );
}

#[test]
fn names_that_are_not_near_are_not_suggested() {
    let model = load(
        "<robot name='r'><link name='a'><colour/><foo bar='1'/></link></robot>",
        "urdf",
    );
    assert_eq!(model.diagnostics.len(), 2);
    assert_eq!(said(&model), [""; 0]);
}

/// The cause is in line 2, its first consequence in line 3.
#[test]
fn misspelt_link_is_named_where_it_stands() {
    let model = load(
        "<robot name='r'><link name='a'/>
<lnik name='b'/>
<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint></robot>",
        "urdf",
    );
    let error = model.result.unwrap_err().to_string();
    let place = "<literal>.urdf:2:1: error: <lnik> in <robot> is ignored";
    assert!(error.starts_with(place), "{error}");
    assert!(error.contains("did you mean <link>?"), "{error}");
    assert_eq!(model.diagnostics[0].severity, Severity::Error);
    assert!(model.diagnostics[1].message.contains("'b'"));
}

#[test]
fn misspelt_body_is_named_where_it_stands_in_mjcf() {
    let model = load(
        "<mujoco model='m'><worldbody><body name='a'><geom size='.1'/></body>
<boddy name='b'><joint name='j'/><geom name='g' size='.1'/></boddy></worldbody>
<actuator><motor name='m' joint='j'/></actuator></mujoco>",
        "xml",
    );
    let first = &model.diagnostics[0];
    assert!(first.message.contains("did you mean <body>?"), "{first}");
    assert_eq!((first.line, first.column), (2, 1));
    if let Err(error) = model.result {
        assert!(error.to_string().contains("<boddy>"), "{error}");
    }
}

/// An error that the misspelling did not cause leaves it a warning.
#[test]
fn misspelling_stays_a_warning_beside_other_errors() {
    let model = load(
        "<robot name='r'><link name='a'><visul name='v'/></link>
<joint name='j' type='fixed'><parent link='a'/><child link='c'/></joint></robot>",
        "urdf",
    );
    let error = model.result.unwrap_err().to_string();
    assert!(error.contains("there is no link named 'c'"), "{error}");
    assert_eq!(model.diagnostics[0].severity, Severity::Warning);
}

#[test]
fn unknown_keys_of_directives_are_errors_with_the_known_ones() {
    let text = "directives: [{add_modle: {name: a, file: b.urdf}}]";
    let error = load(text, "dmd.yaml").result.unwrap_err().to_string();
    assert!(
        error.contains("add_modle") && error.contains("add_model"),
        "{error}"
    );
}

/// The first error names its cause, whatever happens to warnings.
#[test]
fn error_names_the_misspelling_in_every_mode() {
    let joint = |attributes: &str, content: &str| {
        format!(
            "<robot name='r'><link name='a'/><link name='b'/>\n<joint name='j' {attributes}>\
             {content}</joint></robot>"
        )
    };
    let links = "<parent link='a'/><child link='b'/>";
    let visual = |content: &str| {
        format!("<robot name='r'><link name='a'>\n<visual>{content}</visual></link></robot>")
    };
    for (text, written, meant) in [
        (joint("tpye='fixed'", links), "'tpye'", "'type'"),
        (
            joint("type='fixed'", "<parent lnik='a'/><child link='b'/>"),
            "'lnik'",
            "'link'",
        ),
        (
            joint("type='fixed'", "<paernt link='a'/><child link='b'/>"),
            "<paernt>",
            "<parent>",
        ),
        (
            visual("<goemetry><sphere radius='1'/></goemetry>"),
            "<goemetry>",
            "<geometry>",
        ),
        (
            visual("<geometry><cylinder radius='1' lenght='1'/></geometry>"),
            "'lenght'",
            "'length'",
        ),
    ] {
        for mode in [
            OnWarning::Print,
            OnWarning::Collect,
            OnWarning::Fail,
            OnWarning::Ignore,
        ] {
            let model = load_with(|parser| {
                parser.on_warning(mode);
                parser.add_models_from_string(&text, "urdf")
            });
            let error = model.result.unwrap_err().to_string();
            assert!(
                error.contains(written) && error.contains(meant),
                "{mode:?}: {error}"
            );
        }
    }
}

/// An error that a misspelling in another element did not cause does not name it.
#[test]
fn error_does_not_name_misspellings_elsewhere() {
    let model = load(
        "<robot name='r'><link name='a'/><link name='b'/><link name='c'/>
<joint name='j' tpye='fixed' type='fixed'><parent link='a'/><child link='b'/></joint>
<joint name='k'><parent link='b'/><child link='c'/></joint></robot>",
        "urdf",
    );
    let error = model.result.unwrap_err().to_string();
    assert!(
        error.ends_with("3:1: error: <joint> has no attribute 'type'"),
        "{error}"
    );
}

/// Misspellings that were read silently. ROS's parser knows the correct names.
#[test]
fn misspellings_in_materials_and_extensions_are_named() {
    for (content, meant) in [
        (
            "<material name='m'><colour rgba='1 0 0 1'/></material>",
            "<color>",
        ),
        (
            "<material name='m'><color rgb='1 0 0 1'/></material>",
            "'rgba'",
        ),
        (
            "<material name='m'><color rgba='1 0 0 1'/><textur filename=''/></material>",
            "<texture>",
        ),
        (
            "<material nmae='m'><color rgba='1 0 0 1'/></material>",
            "'name'",
        ),
        ("<gazebo refernce='a'/>", "'reference'"),
    ] {
        let text = format!("<robot name='r'><link name='a'/>{content}</robot>");
        let said = said(&load(&text, "urdf"));
        assert_eq!(said.len(), 1, "{content}: {said:?}");
        assert!(
            said[0].ends_with(&format!("did you mean {meant}?")),
            "{said:?}"
        );
    }
    let visual = "<visual><geometry><sphere radius='1'/></geometry><material name='m'>\
                  <colr rgba='1 0 0 1'/></material></visual>";
    let text = format!("<robot name='r'><link name='a'>{visual}</link></robot>");
    assert!(said(&load(&text, "urdf"))[0].ends_with("did you mean <color>?"));
}

#[test]
fn sdformat_suggestions_keep_the_kind_and_first_letter() {
    let version = "<sdf verson='1.9'><model name='m'><link name='a'/></model></sdf>";
    let error = load(version, "sdf").result.unwrap_err().to_string();
    assert!(
        error.contains("'version'") && error.contains("'verson'"),
        "{error}"
    );
    for link in [
        "<link name='a' weight='3'/>",
        "<link name='a'><wieght>3</wieght></link>",
    ] {
        let model = load(
            &format!("<sdf version='1.9'><model name='m'>{link}</model></sdf>"),
            "sdf",
        );
        assert_eq!(said(&model), [""; 0]);
        assert_eq!(model.diagnostics.len(), 1, "{:?}", model.diagnostics);
    }
    // A name with the right letters stands for the other kind.
    let text = "<sdf version='1.9'><model name='m'><link name='a' inertial='1'/></model></sdf>";
    let model = load(text, "sdf");
    assert!(said(&model)[0].ends_with("did you mean <inertial>?"));
}

/// Gazebo writes `<model>` into `<state>`; SDFormat has had it since 1.0 (`model_state.sdf`).
#[test]
fn states_of_models_are_in_sdformat() {
    let text = "<sdf version='1.6'><world name='w'><state world_name='w'><model name='m'>\
                <pose>0 0 1 0 0 0</pose><link name='a'><velocity>0 0 0 0 0 0</velocity></link>\
                </model><light name='l'/></state><model name='m'><link name='a'/></model></world></sdf>";
    let model = load(text, "sdf");
    assert!(model.result.is_ok());
    let said: Vec<String> = model.diagnostics.iter().map(ToString::to_string).collect();
    assert!(
        said.iter().all(|line| !line.contains("is not in SDFormat")),
        "{said:?}"
    );
}
