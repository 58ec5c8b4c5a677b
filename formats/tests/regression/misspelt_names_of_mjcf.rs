//! Misspelt names in every element of MJCF. A new user's misspellings inside `<default>`,
//! `<sensor>`, `<texture>`, `<material>`, `<fixed>` and `<replicate>` were read without a word.
//! MuJoCo 3.3.7 refuses each of them ("Schema violation"). The names come from the schema that it
//! prints (`mj_printSchema`).

use crate::support::loaded::{Loaded, load_with};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use tarragon_documents::Severity;
use tarragon_formats::{MjcfSemantics, Parser};

/// The table that the parser reads; `parsing/vocabulary.rs` describes its notation.
const TABLE: &str = include_str!("../../src/mjcf/read/vocabulary.txt");

fn load(text: &str) -> Loaded {
    load_with(|parser| parser.add_models_from_string(text, "xml"))
}

fn said(model: &Loaded) -> Vec<String> {
    model.diagnostics.iter().map(ToString::to_string).collect()
}

type Names = Vec<&'static str>;

/// Attributes and children by the names of parent and element.
fn table() -> BTreeMap<(&'static str, &'static str), (Names, Names)> {
    let mut table = BTreeMap::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let (head, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (parents, names) = head.split_once('/').unwrap();
        let with = |prefix: char| {
            let words = rest.split_whitespace();
            words
                .filter_map(|word| word.strip_prefix(prefix))
                .collect::<Vec<_>>()
        };
        for parent in parents.split('|') {
            for name in names.split('|') {
                table.insert((parent, name), (with('@'), with('>')));
            }
        }
    }
    table
}

/// Returns a document with `element` below a path of elements.
fn document(path: &[&str], element: &str) -> String {
    let (open, close): (String, String) =
        path.iter().fold(Default::default(), |(open, close), tag| {
            (format!("{open}<{tag}>"), format!("</{tag}>{close}"))
        });
    format!("{open}{element}{close}")
}

#[test]
fn every_element_names_misspelt_attributes_and_children() {
    let table = table();
    let mut seen = BTreeSet::new();
    let mut waiting = vec![("", vec!["mujoco"])];
    let (mut attributes, mut children) = (0, 0);
    while let Some((parent, path)) = waiting.pop() {
        let name = path[path.len() - 1];
        if !seen.insert((parent, name)) {
            continue;
        }
        let (own, inside) = table.get(&(parent, name)).unwrap_or_else(|| {
            panic!("<{name}> in <{parent}> is not described");
        });
        for attribute in own {
            let last = &attribute[attribute.len() - 1..];
            let around = &path[..path.len() - 1];
            let text = document(around, &format!("<{name} {attribute}{last}='1'/>"));
            let expected = format!(
                "attribute '{attribute}{last}' of <{name}> is ignored: MJCF has no such attribute; \
                 did you mean '{attribute}'?"
            );
            let said = said(&load(&text));
            assert!(
                said.iter().any(|line| line.contains(&expected)),
                "{text}: {said:?}"
            );
            attributes += 1;
        }
        for child in inside {
            let text = document(&path, &format!("<{child}{}/>", &child[child.len() - 1..]));
            let expected = format!("the element is unknown; did you mean <{child}>?");
            let said = said(&load(&text));
            assert!(
                said.iter().any(|line| line.contains(&expected)),
                "{text}: {said:?}"
            );
            children += 1;
            // Files are read in place of it.
            if *child != "include" {
                waiting.push((name, [&path[..], &[*child]].concat()));
            }
        }
    }
    assert!(
        attributes > 900 && children > 250,
        "{attributes} {children}"
    );
    let all: BTreeSet<_> = table.keys().copied().collect();
    assert_eq!(seen, all, "elements that no path reaches");
}

/// The cases of the new user.
#[test]
fn misspellings_that_were_silent_are_named() {
    for (text, expected) in [
        ("<default><goem size='1'/></default>", "<geom>"),
        (
            "<default><default class='a'><jiont/></default></default>",
            "<joint>",
        ),
        ("<default><defualt class='a'/></default>", "<default>"),
        ("<default clas='a'/>", "'class'"),
        (
            "<default><default class='a'><geom siez='1'/></default></default>",
            "'size'",
        ),
        (
            "<asset><texture nam='a' builtin='flat' width='1' height='1'/></asset>",
            "'name'",
        ),
        (
            "<asset><material name='a' textre='b'/></asset>",
            "'texture'",
        ),
        (
            "<asset><material name='a' rgb='1 1 1 1'/></asset>",
            "'rgba'",
        ),
        ("<sensor><jointpos joint='j' nois='1'/></sensor>", "'noise'"),
        ("<sensor><jointpos jont='j'/></sensor>", "'joint'"),
        ("<sensor><jointposs joint='j'/></sensor>", "<jointpos>"),
        (
            "<tendon><fixed><joint joint='j' coef='1' cof='2'/></fixed></tendon>",
            "'coef'",
        ),
        ("<custom><numric name='a'/></custom>", "<numeric>"),
        ("<size njmx='100'/>", "'njmax'"),
        ("<worldbody><frame poss='0 0 1'/></worldbody>", "'pos'"),
        ("<visual><globl/></visual>", "<global>"),
    ] {
        let text = format!(
            "<mujoco model='m'><worldbody><body><joint name='j'/><geom size='.1'/></body>\
             </worldbody>{text}</mujoco>"
        );
        let said = said(&load(&text));
        let named = said
            .iter()
            .filter(|line| line.ends_with(&format!("did you mean {expected}?")));
        assert_eq!(named.count(), 1, "{text}: {said:?}");
        assert!(
            !said.iter().any(|line| line.contains("no such sensors")),
            "{said:?}"
        );
    }
}

#[test]
fn error_names_the_misspelling_that_caused_it() {
    let text = "<mujoco model='m'><worldbody>\n<replicate cout='3'><geom size='.1'/></replicate>\
                </worldbody></mujoco>";
    let error = load(text).result.unwrap_err().to_string();
    assert_eq!(
        error,
        "<literal>.xml:2:1: error: <replicate> has no attribute 'count' ('cout' in line 2 is \
         probably a misspelling of 'count')"
    );
}

/// Names of sensors that MJCF has, but the plant has not, keep their own reason.
#[test]
fn known_sensors_are_not_called_unknown() {
    let text = "<mujoco model='m'><worldbody><site name='s'/></worldbody>\
                <sensor><camprojection site='s' camera='c'/></sensor></mujoco>";
    let said = said(&load(text));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("the plant has no such sensors"),
        "{said:?}"
    );
}

/// After an error in `<frame>`, `<replicate>` or `<attach>`, the elements that were not expanded
/// are no mistakes: MuJoCo expands them.
#[test]
fn errors_of_expansion_cause_no_other_warnings() {
    for content in [
        "<attach model='none'/>",
        "<replicate count='0'><geom size='.1'/></replicate>",
        "<frame pos='0 0'><geom size='.1'/></frame>",
        "<frame><body name='b'><joint name='j'/><attach model='none'/></body></frame>",
    ] {
        let text = format!(
            "<mujoco model='m'><worldbody><frame><replicate count='2'><geom size='.1'/></replicate>\
             </frame><body name='a'>{content}</body></worldbody>\
             <actuator><motor joint='j'/></actuator></mujoco>"
        );
        let model = load(&text);
        let said = said(&model);
        assert!(model.result.is_err() && said.len() == 1, "{said:?}");
        assert_eq!(model.diagnostics[0].severity, Severity::Error);
    }
}

/// Misspellings in attached and included files have their own places.
#[test]
fn attached_and_included_files_are_checked() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let main = "<mujoco model='m'><include file='i.xml'/><asset><model name='c' file='c.xml'/></asset>\
                <worldbody><frame><attach model='c' prefix='c_'/></frame></worldbody></mujoco>";
    fs::write(path("m.xml"), main).unwrap();
    fs::write(
        path("i.xml"),
        "<mujoco>\n<default>\n<goem/></default></mujoco>",
    )
    .unwrap();
    let child = "<mujoco>\n<default><default class='a'><geom siez='1'/></default></default>\
                 <worldbody><body name='b'><geom class='a' size='.1'/></body></worldbody></mujoco>";
    fs::write(path("c.xml"), child).unwrap();
    let model = load_with(|parser: &mut Parser<'_>| {
        parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        parser.add_models(path("m.xml"))
    });
    model.result.as_ref().unwrap();
    let said = said(&model);
    let named = |place: &str, name: &str| {
        said.iter()
            .any(|line| line.contains(place) && line.ends_with(name))
    };
    assert!(named("i.xml:3:1: ", "did you mean <geom>?"), "{said:?}");
    assert!(named("c.xml:2:35: ", "did you mean 'size'?"), "{said:?}");
}
