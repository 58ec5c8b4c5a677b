//! Values and names that MuJoCo 3.3.7 refuses. Every case was tried in MuJoCo. It refuses the first
//! list with "problem reading", "too much data", "does not have enough data", "invalid keyword" or
//! "invalid condim", and loads the second.

use crate::support::loaded::{Loaded, load_with};
use tarragon_documents::Severity;

fn text(geom: &str, joint: &str, others: &str) -> String {
    format!(
        "<mujoco model='m'><worldbody><body><joint name='j' {joint}/><geom name='g' size='.1' \
         {geom}/></body></worldbody>{others}</mujoco>"
    )
}

fn load(text: &str) -> Loaded {
    load_with(|p| p.add_models_from_string(text, "xml"))
}

/// Cases: attributes of the geom, attributes of the joint, other elements, text of the error.
const REFUSED: [(&str, &str, &str, &str); 27] = [
    (
        "condim='2'",
        "",
        "",
        "attribute 'condim' must be one of 1, 3, 4, 6, got '2'",
    ),
    (
        "condim='0'",
        "",
        "",
        "attribute 'condim' must be one of 1, 3, 4, 6, got '0'",
    ),
    (
        "",
        "",
        "<contact><pair geom1='g' geom2='g' condim='5'/></contact>",
        "'condim' must be one of",
    ),
    (
        "",
        "",
        "<default><geom condim='2'/></default>",
        "'condim' must be one of 1, 3, 4, 6",
    ),
    (
        "contype='1.5'",
        "",
        "",
        "attribute 'contype' must be an integer, got '1.5'",
    ),
    (
        "conaffinity='1.0'",
        "",
        "",
        "attribute 'conaffinity' must be an integer, got '1.0'",
    ),
    (
        "contype='4294967295'",
        "",
        "",
        "attribute 'contype' must be an integer",
    ),
    (
        "priority='.5'",
        "",
        "",
        "attribute 'priority' must be an integer, got '.5'",
    ),
    (
        "group='a'",
        "",
        "",
        "attribute 'group' must be an integer, got 'a'",
    ),
    (
        "",
        "group='1 2'",
        "",
        "attribute 'group' must have 1 number, got 2",
    ),
    (
        "pos='0 0 0 0'",
        "",
        "",
        "attribute 'pos' must have 3 numbers, got 4",
    ),
    (
        "euler='0 0'",
        "",
        "",
        "attribute 'euler' must have 3 numbers, got 2",
    ),
    (
        "rgba='1 1 1'",
        "",
        "",
        "attribute 'rgba' must have 4 numbers, got 3",
    ),
    (
        "friction='1 1 1 1'",
        "",
        "",
        "attribute 'friction' must have at most 3 numbers, got 4",
    ),
    (
        "solref='1 1 1'",
        "",
        "",
        "attribute 'solref' must have at most 2 numbers, got 3",
    ),
    (
        "solimp='.9 .9 .1 .5 2 7'",
        "",
        "",
        "attribute 'solimp' must have at most 5 numbers, got 6",
    ),
    (
        "mass='1 2'",
        "",
        "",
        "attribute 'mass' must have 1 number, got 2",
    ),
    (
        "fluidshape='round'",
        "",
        "",
        "'fluidshape' must be one of 'ellipsoid', 'none'",
    ),
    (
        "",
        "type='revolute'",
        "",
        "'type' must be one of 'free', 'ball', 'slide', 'hinge'",
    ),
    (
        "",
        "range='1'",
        "",
        "attribute 'range' must have 2 numbers, got 1",
    ),
    (
        "",
        "damping='1 2'",
        "",
        "attribute 'damping' must have 1 number, got 2",
    ),
    (
        "",
        "springdamper='1'",
        "",
        "attribute 'springdamper' must have 2 numbers, got 1",
    ),
    (
        "",
        "",
        "<option gravity='0 0'/>",
        "attribute 'gravity' must have 3 numbers, got 2",
    ),
    (
        "",
        "",
        "<option iterations='1.5'/>",
        "attribute 'iterations' must be an integer",
    ),
    (
        "",
        "",
        "<option cone='round'/>",
        "'cone' must be one of 'pyramidal', 'elliptic'",
    ),
    (
        "",
        "",
        "<compiler angle='deg'/>",
        "must be one of 'degree', 'radian', got 'deg'",
    ),
    (
        "",
        "",
        "<actuator><motor joint='j' gear='1 1 1 1 1 1 1'/></actuator>",
        "attribute 'gear' must have at most 6 numbers, got 7",
    ),
];

#[test]
fn values_that_mujoco_refuses_are_errors_that_name_what_is_allowed() {
    for (geom, joint, others, what) in REFUSED {
        let mut model = load(&text(geom, joint, others));
        assert!(
            model.result.is_err(),
            "{geom}{joint}{others} must be refused"
        );
        let plant = model.plant.build_with_scene(&mut model.scene).unwrap();
        assert_eq!(
            plant.num_bodies(),
            1,
            "a failed parse leaves the plant as it was"
        );
        let errors = model.diagnostics.iter();
        let errors: Vec<_> = errors.filter(|d| d.severity == Severity::Error).collect();
        assert!(
            matches!(&errors[..], [one] if one.message.contains(what) && one.column > 1),
            "one error must say '{what}', got {errors:#?}"
        );
    }
}

#[test]
fn values_that_mujoco_takes_are_taken() {
    for (geom, joint, others) in [
        ("condim='+1' contype='-1' priority='-3'", "", ""),
        ("condim=' 6 '", "", ""),
        ("solmix='0x1' friction=''", "", ""),
        ("user='1 2 3'", "", ""),
        ("", "", "<option actuatorgroupdisable='1 2 3'/>"),
        (
            "",
            "",
            "<compiler inertiagrouprange='0 5' coordinate='local'/>",
        ),
        ("", "group='2' range='1 0'", ""),
    ] {
        let model = load(&text(geom, joint, others));
        assert!(
            model.result.is_ok(),
            "{geom}{joint}{others}: {:?}",
            model.result
        );
    }
}

/// MuJoCo 3.3.7 loads these values, and its solver warns "mixed solref format, replacing with
/// default".
#[test]
fn solver_references_of_mixed_signs_warn() {
    for (geom, others) in [
        ("solref='-1 1'", ""),
        ("solref='1 -1'", ""),
        ("", "<option o_solref='-1 1'/>"),
    ] {
        let model = load(&text(geom, "", others));
        assert!(model.result.is_ok());
        let says = |d: &tarragon_documents::Diagnostic| d.message.contains("two positive numbers");
        assert!(
            model.diagnostics.iter().any(says),
            "{:#?}",
            model.diagnostics
        );
    }
}

#[test]
fn misspelt_elements_and_attributes_name_what_may_be_meant() {
    for (geom, others, what) in [
        (
            "",
            "<actuator><motr joint='j'/></actuator>",
            "<motr> is ignored: the element is unknown; did you mean <motor>?",
        ),
        (
            "",
            "<equality><conect body1='b'/></equality>",
            "<conect> is ignored: the element is unknown; did you mean <connect>?",
        ),
        (
            "",
            "<asset><mesg name='m'/></asset>",
            "did you mean <mesh>?",
        ),
        (
            "",
            "<worldbody><boddy/></worldbody>",
            "did you mean <body>?",
        ),
        (
            "",
            "<worldbody><body><goem/></body></worldbody>",
            "did you mean <geom>?",
        ),
        (
            "",
            "<contact><exlude/></contact>",
            "did you mean <exclude>?",
        ),
        ("", "<tendon><fixd/></tendon>", "did you mean <fixed>?"),
        (
            "",
            "<aset/>",
            "<aset> is ignored: the element is unknown; did you mean <asset>?",
        ),
        ("", "<option><flg/></option>", "did you mean <flag>?"),
        (
            "densty='3'",
            "",
            "MJCF has no such attribute; did you mean 'density'?",
        ),
    ] {
        let model = load(&text(geom, "", others));
        let said: Vec<_> = model.diagnostics.iter().map(|d| &*d.message).collect();
        assert!(
            matches!(said[..], [one] if one.contains(what)),
            "one message must say '{what}', got {said:#?}"
        );
    }
}

#[test]
fn references_to_what_does_not_exist_name_what_may_be_meant() {
    let assets = "<asset><material name='steel'/><hfield name='hills' nrow='2' ncol='2' \
                  size='1 1 1 1'/><mesh name='cube' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>";
    for (geom, what) in [
        (
            "material='stel'",
            "there is no material 'stel'; did you mean 'steel'?",
        ),
        (
            "material='wood'",
            "there is no material 'wood'; there are: 'steel'",
        ),
        (
            "type='hfield' hfield='hils'",
            "there is no height field 'hils'; did you mean 'hills'?",
        ),
        (
            "type='mesh' mesh='cubes'",
            "there is no mesh 'cubes'; did you mean 'cube'?",
        ),
    ] {
        let model = load(&text(geom, "", assets));
        let says = |d: &tarragon_documents::Diagnostic| d.message.contains(what);
        assert!(
            model.diagnostics.iter().any(says),
            "{what}: {:#?}",
            model.diagnostics
        );
    }
}

#[test]
fn a_faulty_asset_is_reported_once() {
    let asset = "<asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 0'/></asset>";
    let model = load(&text("type='hfield' hfield='h'", "", asset));
    let said: Vec<_> = model.diagnostics.iter().map(|d| &*d.message).collect();
    assert!(
        matches!(said[..], [one] if one.contains("four positive numbers")),
        "{said:#?}"
    );
}
