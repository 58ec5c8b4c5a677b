//! Random expressions.

use super::random::Random;

/// A document with a few properties and one expression.
pub(super) fn document(random: &mut Random) -> String {
    let inner = match random.below(8) {
        0..3 => number(random, 3),
        3..5 => text(random, 3),
        5 => list(random, 2),
        6 => truth(random, 2),
        _ => format!("str({})", any(random, 3)),
    };
    let specification = specification(random).replace('<', "&lt;");
    let inner = inner.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        r#"<a xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="n" value="7"/>
  <xacro:property name="x" value="2.5"/>
  <xacro:property name="s" value="left_leg"/>
  <xacro:property name="l" value="${{[3, 1.5, 2]}}"/>
  <xacro:property name="d" value="${{dict(a=1, b='two', c=[0.5])}}"/>
  <xacro:property name="f" value="{{}}:{{:.3f}}"/>
  <xacro:property name="g" value="{{:{specification}}}"/>
  <b v="${{{inner}}}"/>
</a>
"#
    )
}

/// A format of a number.
fn specification(random: &mut Random) -> String {
    [
        ["", "", "*<", "x^", ">", "="].as_slice(),
        &["", "", "+", " "],
        &["", "", "#"],
        &["", "0"],
        &["", "7", "12"],
        &["", "", ",", "_"],
        &["", "", ".0", ".3"],
        &["", "e", "f", "g", "%"],
    ]
    .map(|choices| random.pick(choices))
    .concat()
}

/// A format of `%`.
fn percent(random: &mut Random) -> String {
    [
        ["", "", "-", "+", "0", "#", "+0", " "].as_slice(),
        &["", "", "7", "12"],
        &["", "", ".0", ".3"],
        &["d", "i", "e", "f", "G", "s", "r"],
    ]
    .map(|choices| random.pick(choices))
    .concat()
}

fn any(random: &mut Random, depth: usize) -> String {
    match random.below(4) {
        0 => number(random, depth),
        1 => text(random, depth),
        2 => list(random, depth),
        _ => truth(random, depth),
    }
}

fn number(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        let digits = (random.below(2000) as f64 - 1000.0) / 64.0;
        return match random.below(8) {
            0 => random.below(20).to_string(),
            1 => format!("{digits}"),
            2 => format!("{:e}", digits * 1e-7),
            3 => "n".into(),
            4 => "x".into(),
            5 => random
                .pick(&["pi", "math.e", "True", "d['a']", "1e3", "1.", ".5", "0"])
                .into(),
            6 => format!("-{}", random.below(10)),
            _ => format!("{}.{}", random.below(5), random.below(100)),
        };
    }
    let mut sub = || number(random, depth - 1);
    let (a, b) = (sub(), sub());
    match random.below(19) {
        17 => format!("python.hash({a}) % 1000"),
        18 => format!("len(python.set({}))", list(random, depth - 1)),
        16 => format!(
            "{}.{}('{}', {}, {})",
            text(random, depth - 1),
            random.pick(&["find", "rfind", "count"]),
            random.pick(&["", "l", "le", "_", "b"]),
            random.pick(&["0", "1", "-4", "n", "None"]),
            random.pick(&["2", "-1", "n", "None"])
        ),
        0..6 => {
            let operator = random.pick(&["+", "-", "*", "/", "//", "%"]);
            format!("({a} {operator} {b})")
        }
        6 => format!("{a} ** {}", random.below(4)),
        7 => {
            let function = random.pick(&[
                "sin",
                "cos",
                "math.tan",
                "radians",
                "degrees",
                "math.floor",
                "ceil",
                "exp",
                "sqrt",
                "python.abs",
                "round",
                "int",
                "float",
                "atan",
                "math.trunc",
                "math.fabs",
            ]);
            format!("{function}({a})")
        }
        8 => format!("round({a}, {} - 4)", random.below(9)),
        9 => format!(
            "{}({a}, {b})",
            random.pick(&["min", "max", "math.atan2", "hypot", "fmod"])
        ),
        10 => format!("({a} if {} else {b})", truth(random, depth - 1)),
        11 => format!("len({})", text(random, depth - 1)),
        12 => format!(
            "{}[{}]",
            list(random, depth - 1),
            random.pick(&["0", "-1", "1"])
        ),
        13 => format!("python.sum({})", list(random, depth - 1)),
        14 => format!("-{a} + {b}"),
        _ => format!("{a} * {b} - {a}"),
    }
}

fn text(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return random
            .pick(&["s", "'a b'", "'x'", "''", "d['b']", "'Ab_c'", "'1,2;3'"])
            .into();
    }
    let a = text(random, depth - 1);
    let b = text(random, depth - 1);
    match random.below(20) {
        18 => format!("g.format({})", number(random, depth - 1)),
        19 => format!("'%{}' % {}", percent(random), number(random, depth - 1)),
        0..3 => format!("{a} + {b}"),
        3 => format!("{a} * {}", random.below(4)),
        4 => format!("str({})", number(random, depth - 1)),
        5 => format!(
            "{a}.{}()",
            random.pick(&["upper", "lower", "strip", "title", "capitalize"])
        ),
        6 => format!("{a}.replace({b}, '-')"),
        7 => format!(
            "{a}[{}]",
            random.pick(&["1:", ":-1", "::2", "::-1", "-3:9", "0"])
        ),
        8 => format!(
            "'%s|%.3f|%d|%5s' % ({a}, {}, 12, {b})",
            number(random, depth - 1)
        ),
        9 => format!("f.format({a}, {})", number(random, depth - 1)),
        10 => format!("{a}.join([{b}, 'z'])"),
        11 => format!("str({})", list(random, depth - 1)),
        12 => format!("({a} or {b})"),
        13 => format!(
            "{a}.split({})[-1]",
            random.pick(&["", "'_'", "','", "' ', 1"])
        ),
        14 => format!("'%g %e' % ({}, 3)", number(random, depth - 1)),
        15 => format!("{a}.rjust(6, '*')"),
        16 => format!("'|'.join({a}.split(None, 1))"),
        _ => format!("{a}.zfill(4)"),
    }
}

fn list(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return random.pick(&["l", "[1, 2, 3]", "[0.5]", "[4, 4.0]"]).into();
    }
    match random.below(12) {
        8 => format!("list(python.set({}))", list(random, depth - 1)),
        9 => format!(
            "python.list({{{}, {}}} {} python.frozenset({}))",
            number(random, depth - 1),
            number(random, depth - 1),
            random.pick(&["|", "&", "-", "^"]),
            list(random, depth - 1)
        ),
        10 => format!(
            "[i for i in {{j // 2 for j in {}}}]",
            list(random, depth - 1)
        ),
        11 => format!(
            "list(python.set({}).{}({}))",
            list(random, depth - 1),
            random.pick(&[
                "union",
                "intersection",
                "difference",
                "symmetric_difference"
            ]),
            list(random, depth - 1)
        ),
        0 => format!(
            "[{}, {}]",
            number(random, depth - 1),
            number(random, depth - 1)
        ),
        1 => format!("[i * 2 for i in {}]", list(random, depth - 1)),
        2 => format!("[i for i in range({}) if i % 2]", random.below(8)),
        3 => format!("{} + {}", list(random, depth - 1), list(random, depth - 1)),
        4 => format!("sorted({})", list(random, depth - 1)),
        5 => format!("list(map(float, {}))", list(random, depth - 1)),
        6 => format!("{}[1:]", list(random, depth - 1)),
        _ => format!(
            "[a + b for a, b in python.zip({0}, {0})]",
            list(random, depth - 1)
        ),
    }
}

fn truth(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return random.pick(&["True", "False", "n", "s", "not x"]).into();
    }
    let depth = depth - 1;
    match random.below(8) {
        6 => format!(
            "python.set({}) {} {{{}, 4}}",
            list(random, depth),
            random.pick(&["<", "<=", "==", "!=", ">", ">="]),
            number(random, depth)
        ),
        7 => format!(
            "{} in python.set({})",
            number(random, depth),
            list(random, depth)
        ),
        0 | 1 => {
            let operator = random.pick(&["<", "<=", "==", "!=", ">", ">="]);
            format!(
                "{} {operator} {}",
                number(random, depth),
                number(random, depth)
            )
        }
        2 => format!("{} in {}", text(random, depth), text(random, depth)),
        3 => {
            let operator = random.pick(&["and", "or"]);
            format!(
                "({} {operator} {})",
                truth(random, depth),
                truth(random, depth)
            )
        }
        4 => format!("(not {})", truth(random, depth)),
        _ => format!(
            "{}.startswith({})",
            text(random, depth),
            text(random, depth)
        ),
    }
}
