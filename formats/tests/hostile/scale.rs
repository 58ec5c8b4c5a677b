//! Files larger than those of any robot: the time grows in proportion to the length of the file.

use super::*;
use std::fmt::Write;

/// Parses without a scene; returns the CPU time and the plant.
fn time(text: &str, format: &str) -> (Duration, MultibodyPlantBuilder) {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let begin = worked();
    Parser::new(&mut plant)
        .add_models_from_string(text, format)
        .unwrap();
    (worked() - begin, plant)
}

/// A model of `n` bodies, which are all free or joined in a chain.
fn bodies(format: &str, n: usize, chain: bool) -> String {
    let mut inner = String::new();
    for i in 0..n {
        let joint = match (format, chain && i > 0) {
            ("urdf", true) => format!(
                "<joint name='j{i}' type='continuous'><parent link='l{}'/><child link='l{i}'/></joint>",
                i - 1
            ),
            ("sdf", true) => format!(
                "<joint name='j{i}' type='ball'><parent>l{}</parent><child>l{i}</child></joint>",
                i - 1
            ),
            _ => String::new(),
        };
        write!(inner, "{}{joint}", body(format, &format!("l{i}"))).unwrap();
    }
    model(format, &inner)
}

#[test]
fn a_hundred_thousand_bodies_load_in_seconds() {
    const N: usize = 100_000;
    for (format, chain) in [
        ("urdf", false),
        ("urdf", true),
        ("sdf", false),
        ("sdf", true),
        ("xml", false),
    ] {
        let text = bodies(format, N, chain);
        let (taken, plant) = time(&text, format);
        assert_eq!(plant.num_bodies(), N + 1);
        // It takes 2 s with optimization.
        assert!(taken < SOON, "{format} {chain} {taken:?}");
        let begin = worked();
        plant.build().unwrap();
        let taken = worked() - begin;
        assert!(taken < SOON, "building of {format}: {taken:?}");
    }
}

#[test]
fn thousands_of_mistakes_are_reported_quickly() {
    const N: usize = 20_000;
    let mut urdf = String::new();
    let mut sdf = String::from("<link name='a'/>");
    let mut mjcf = String::new();
    let mut yaml = String::from("directives:\n");
    for i in 0..N {
        write!(urdf, "<link name='l{i}'/><joint name='j{i}' type='fixed'><parent link='x'/><child link='y'/></joint>").unwrap();
        write!(
            sdf,
            "<joint name='j{i}' type='ball'><parent>x</parent><child>y</child></joint>"
        )
        .unwrap();
        write!(mjcf, "<body name='a'><geom type='x'/></body>").unwrap();
        if i < N / 10 {
            writeln!(yaml, "- add_weld: {{parent: x, child: y}}").unwrap();
        }
    }
    for (format, text) in [
        ("urdf", model("urdf", &urdf)),
        ("sdf", model("sdf", &sdf)),
        ("xml", model("xml", &mjcf)),
        ("dmd.yaml", yaml),
    ] {
        let found = load(&text, format);
        assert!(!found.is_ok(), "{format}");
        assert!(found.diagnostics.len() > 100, "{format}: {}", found.error);
    }
}

#[test]
fn thousands_of_models_with_the_same_name_are_numbered_quickly() {
    const N: usize = 3000;
    let begin = worked();
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.set_auto_renaming(true);
    for _ in 0..N {
        parser
            .add_models_from_string("<robot name='r'><link name='a'/></robot>", "urdf")
            .unwrap();
    }
    assert_eq!(plant.model_instance_names()[N + 1], format!("r_{}", N - 1));
    let taken = worked() - begin;
    assert!(taken < SOON, "{taken:?}");
}
