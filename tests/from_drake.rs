//! The tables of `tarragon::from_drake` have a row for every name of Drake's documentation.
//!
//! The documentation is text in the directory named by `TARRAGON_SEEDS`, else `../shared/seeds`;
//! a file that is not there is skipped with a line that begins with `SKIPPED`. Names are read from
//! these lines alone, so that prose, parameters and code in the documentation add none:
//!
//! | line of pydrake's documentation | name |
//! |---|---|
//! | `class pydrake.M.X`, `template pydrake.M.X_`, `class X_[float]` | `X` |
//! | `class X`, within a class | `Outer.X`, until its alphabetical list of members ends |
//! | `pydrake.M.f(ARGUMENTS) RETURN` | `f` |
//! | `pydrake.M.X` or `X`, and then `alias of ...` | `X` or `Class.X` |
//! | `f(self: pydrake.M.X, ...`, `f(*args, ...`, `static f(...`, `f() → ...` | `X.f` |
//! | the same of `__init__` | `X(...)` |
//! | `property p`, `kConstant = VALUE` | `X.p`, `X.kConstant` |
//! | `port→`, `→ port`, `@input_port{port...` | `X port port` |
//!
//! Scalars and pixel types in brackets are dropped with the underscore before them. In Doxygen's
//! documentation of one class, the line `◆ f()` of a member is its name.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it has skipped"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Table of a module, and how names are read from the documentation that it covers.
struct Module {
    name: &'static str,
    /// Start of the file name of the documentation.
    seed: &'static str,
    table: &'static str,
    read: fn(&str) -> BTreeSet<String>,
    /// Number of names and rows: names that the parser and the table lose together are noticed.
    count: usize,
}

const MODULES: [Module; 5] = [
    Module {
        name: "geometry",
        seed: "000",
        table: include_str!("../src/from_drake/geometry.md"),
        read: pydrake_names,
        count: 635,
    },
    Module {
        name: "early_geometry",
        seed: "001",
        table: include_str!("../src/from_drake/early_geometry.md"),
        read: pydrake_names,
        count: 51,
    },
    Module {
        name: "query_object",
        seed: "002",
        table: include_str!("../src/from_drake/query_object.md"),
        read: doxygen_names,
        count: 21,
    },
    Module {
        name: "sensors",
        seed: "003",
        table: include_str!("../src/from_drake/sensors.md"),
        read: pydrake_names,
        count: 247,
    },
    Module {
        name: "parsing",
        seed: "004",
        table: include_str!("../src/from_drake/parsing.md"),
        read: pydrake_names,
        count: 87,
    },
];

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// An identifier like `kCount` or `k8U`, but not `kilograms`.
fn is_constant(name: &str) -> bool {
    let rest = name.strip_prefix('k').filter(|rest| is_identifier(rest));
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// A name without scalars: `Box` of `Box`, `Image[PixelType.kRgb8U]`, `Box_` and `Box_[float]`.
fn plain(name: &str) -> &str {
    name.split('[').next().unwrap().trim_end_matches('_')
}

/// The part of `pydrake.module.sub.Name` behind the modules, which are in lower case.
fn unqualified(path: &str) -> Option<&str> {
    let mut rest = path.strip_prefix("pydrake.")?;
    while let Some((module, behind)) = rest.split_once('.') {
        if !is_identifier(module) || module.starts_with(char::is_uppercase) {
            break;
        }
        rest = behind;
    }
    Some(rest)
}

/// The name and the rest of `NAME(REST`, or of `NAME[PIXEL TYPE](REST`.
fn called(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once('(')?;
    let name = name.split('[').next()?;
    is_identifier(name).then_some((name, rest))
}

/// The class in `self: pydrake.M.Class, ...`, with the classes around it.
fn class_of_self(arguments: &str) -> Option<String> {
    let path = unqualified(arguments.strip_prefix("self: ")?)?;
    // Up to the comma, the closing parenthesis or the scalars, which have commas themselves.
    let end = path.find([',', ')', '[']).unwrap_or(path.len());
    let parts = path[..end].split('.').map(plain);
    Some(parts.collect::<Vec<_>>().join("."))
}

/// Member that a line declares, with its class if the line says so.
fn member(line: &str, next: &str) -> Option<(String, Option<String>)> {
    if let Some(name) = line.strip_prefix("property ") {
        return is_identifier(name).then(|| (name.into(), None));
    }
    let constant = line.split_once(" = ").map(|(name, _)| name);
    if let Some(name) = constant.filter(|name| is_constant(name)) {
        return Some((name.into(), None));
    }
    if is_identifier(line) && next.starts_with("alias of ") {
        return Some((line.into(), None));
    }
    let unbound = line.strip_prefix("static ");
    let (name, arguments) = called(unbound.unwrap_or(line))?;
    let is_signature = unbound.is_some()
        || arguments.starts_with("self: ")
        || arguments.starts_with("*args")
        || arguments.starts_with(") → ");
    is_signature.then(|| (name.into(), class_of_self(arguments)))
}

/// Ports in a line: of the drawing of a system, or of its description in Doxygen.
fn ports(line: &str) -> Vec<&str> {
    // Port names may have blanks; formulas with arrows do not begin or end with them.
    let drawn = line.strip_suffix('→').or(line.strip_prefix("→ "));
    if let Some(name) = drawn {
        let name = name.trim().trim_end_matches(" (optional)");
        return if name == "..." { vec![] } else { vec![name] };
    }
    let described = ["@input_port{", "@output_port{"];
    let behind = described.iter().flat_map(|tag| line.split(tag).skip(1));
    let names = behind.filter_map(|rest| rest.split(['{', '}']).next());
    names.filter(|name| is_identifier(name)).collect()
}

/// Names of a module in the text of pydrake's documentation.
fn pydrake_names(text: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut names = BTreeSet::new();
    let mut class = String::new();
    // Class within that class, and its latest member.
    let mut inner: Option<(String, String)> = None;
    for (i, line) in lines.iter().enumerate() {
        let next = lines[i + 1..].iter().find(|l| !l.is_empty());
        let next = next.copied().unwrap_or_default();
        let declared = line
            .strip_prefix("class ")
            .or(line.strip_prefix("template "));
        if let Some(declared) = declared {
            let name = unqualified(declared).unwrap_or(declared);
            if !is_identifier(plain(name)) || name.contains(": ") {
                continue; // code or prose
            }
            let is_nested = declared == name && !name.contains('[');
            if is_nested {
                inner = Some((plain(name).into(), String::new()));
                names.insert(format!("{class}.{}", plain(name)));
            } else {
                inner = None;
                class = plain(name).into();
                names.insert(class.clone());
            }
        } else if let Some(name) = unqualified(line) {
            let function = called(name).map(|(name, _)| name);
            let alias = Some(name).filter(|n| is_identifier(n) && next.starts_with("alias of "));
            names.extend(function.or(alias).map(String::from));
        } else if let Some((name, of_self)) = member(line, next) {
            if let Some((inner_class, latest)) = &mut inner {
                let is_behind = name.to_lowercase() < latest.to_lowercase();
                let of_outer = of_self.as_deref() == Some(&class);
                if name != "__init__" && (is_behind || of_outer) {
                    inner = None;
                } else if name != "__init__" {
                    latest.clone_from(&name);
                } else if of_self.is_some() {
                    assert_eq!(of_self, Some(format!("{class}.{inner_class}")), "{line}");
                }
            }
            let around = match &inner {
                Some((inner, _)) => format!("{class}.{inner}"),
                None => class.clone(),
            };
            let owner = of_self.unwrap_or(around);
            names.insert(match name.as_str() {
                "__init__" => format!("{owner}(...)"),
                _ => format!("{owner}.{name}"),
            });
        } else {
            names.extend(
                ports(line)
                    .iter()
                    .map(|port| format!("{class} port {port}")),
            );
        }
    }
    names
}

/// Names of the class that a page of Doxygen documents.
fn doxygen_names(text: &str) -> BTreeSet<String> {
    let title = text
        .lines()
        .find(|l| l.ends_with("Class Template Reference"));
    let class = title.unwrap().split('<').next().unwrap().trim();
    let members = text
        .lines()
        .filter_map(|l| l.strip_prefix('◆')?.split_once("()"));
    let mut names: BTreeSet<String> = members
        .map(|(name, _)| match name.trim() {
            name if name == class => format!("{class}(...)"),
            name => format!("{class}.{name}"),
        })
        .collect();
    names.insert(class.into());
    names
}

/// Rows of a table: the name without backticks, and the counterpart.
fn rows(table: &str) -> Vec<(String, &str)> {
    let rows = table.lines().filter(|l| l.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 5, "a row has three cells: {row}");
        (cells[1].replace('`', ""), cells[2])
    })
    .collect()
}

/// The file of the documentation whose name starts like this; says so when there is none.
fn find(seed: &str) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("TARRAGON_SEEDS");
    let folder = here.join(named.unwrap_or_else(|| "../shared/seeds".into()));
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut paths = files.map(|file| file.path());
    let found = paths.find(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(&format!("{seed}_")) && name.ends_with(".txt")
    });
    if found.is_none() {
        println!("SKIPPED {seed}_*.txt: not in {}", folder.display());
    }
    found
}

#[test]
fn every_name_has_a_row_and_every_row_a_name() {
    let (mut names, mut missing, mut unknown) = (0, vec![], vec![]);
    for module in &MODULES {
        let Some(path) = find(module.seed) else {
            continue;
        };
        let documented = (module.read)(&std::fs::read_to_string(path).unwrap());
        names += documented.len();
        let in_rows: BTreeSet<String> = rows(module.table).into_iter().map(|r| r.0).collect();
        let full = |name: &String| format!("{}: {name}", module.name);
        missing.extend(documented.difference(&in_rows).map(full));
        unknown.extend(in_rows.difference(&documented).map(full));
    }
    println!("from_drake: {names} names, {} missing rows", missing.len());
    assert!(missing.is_empty(), "names without a row: {missing:#?}");
    assert!(unknown.is_empty(), "rows of unknown names: {unknown:#?}");
}

#[test]
fn every_row_is_unique_and_links_or_gives_a_reason() {
    for module in &MODULES {
        let mut seen = BTreeSet::new();
        let rows = rows(module.table);
        assert_eq!(rows.len(), module.count, "{}", module.name);
        for (name, counterpart) in rows {
            let is_link = counterpart.starts_with("[`");
            let reason = counterpart.strip_prefix("missing: ");
            let place = format!("{}: {name}", module.name);
            assert!(is_link || reason.is_some_and(|r| !r.is_empty()), "{place}");
            assert!(seen.insert(name), "{place} has two rows");
        }
    }
}

#[test]
fn declarations_are_told_from_prose_and_code() {
    let text = "\
pydrake.zoo
pydrake.zoo.Feed(animal: pydrake.zoo.Animal, amount: float = 1.0) None
Feed() is called once a day. See also Animal.
class pydrake.zoo.Animal
Bases: pydrake.zoo.Thing
class Animal : public Thing {
food→
...→
Animal
→ noise (optional)
f : A → B, f(x) = 2
__init__(*args, **kwargs)
  1. __init__(self: pydrake.zoo.Animal, name: str) -> None
class Leg
__init__(self: pydrake.zoo.Animal.Leg, **kwargs) None
property length
property toes
kCount = 4
kilograms = weight / 9.81
name(self: pydrake.zoo.Animal, language: str = 'la') str
is_tame() returns False.
static Largest() pydrake.zoo.Animal
Kind

alias of pydrake.zoo.Kind
template pydrake.zoo.Cage_
class pydrake.zoo.Cage_[AutoDiffXd, AutoDiffXd]
Open(self: pydrake.zoo.Cage_[AutoDiffXd, AutoDiffXd], key: int) bool
get_new_id() → pydrake.zoo.Cage
Hold[Kind.kTame](self: pydrake.zoo.Cage, count: int) None
@system{Cage, @input_port{key{0}} @input_port{…} @output_port{door} }
pydrake.zoo.BigCage

alias of pydrake.zoo.Cage
";
    let expected = [
        "Animal",
        "Animal port food",
        "Animal port noise",
        "Animal(...)",
        "Animal.Kind",
        "Animal.Largest",
        "Animal.Leg",
        "Animal.Leg(...)",
        "Animal.Leg.length",
        "Animal.Leg.toes",
        "Animal.kCount",
        "Animal.name",
        "BigCage",
        "Cage",
        "Cage port door",
        "Cage port key",
        "Cage.Hold",
        "Cage.Open",
        "Cage.get_new_id",
        "Feed",
    ];
    assert_eq!(pydrake_names(text), expected.map(String::from).into());

    let page = "\
Cage< T > Class Template Reference
Open() opens.
◆ Cage() [1/2]
◆ Cage() [2/2]
◆ Open()
◆ Zoo< T >
";
    let expected = ["Cage", "Cage(...)", "Cage.Open"];
    assert_eq!(doxygen_names(page), expected.map(String::from).into());
}
