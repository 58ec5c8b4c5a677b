//! Expressions and their values, as Python computes them.

use super::text::literal;
use super::*;

mod bounds;
mod formats;
mod numbers;
mod sets;

/// A host with a few names.
#[derive(Default)]
struct Names {
    work: usize,
    depth: usize,
}

impl Budget for Names {
    fn spend(&mut self, work: usize) -> PyResult<()> {
        self.work += work;
        if self.work < 1_000_000 {
            Ok(())
        } else {
            Err(PyError::limit("too much work"))
        }
    }
}

impl Host for Names {
    fn name(&mut self, name: &str) -> PyResult<Option<PyValue>> {
        Ok(match name {
            "x" => Some(PyValue::Float(1.5)),
            "n" => Some(PyValue::Int(7)),
            "s" => Some(PyValue::str("left_leg")),
            "math" => Some(PyValue::Namespace(PyNamespace::Math)),
            "python" => Some(PyValue::Namespace(PyNamespace::Python)),
            name => builtin(name).or_else(|| math_name(name)),
        })
    }
    fn attribute(&mut self, _: u32, _: &str) -> PyResult<Option<PyValue>> {
        Ok(None)
    }
    fn call(&mut self, _: &'static str, _: CallArguments) -> PyResult {
        Ok(PyValue::None)
    }
    fn total_depth(&mut self) -> &mut usize {
        &mut self.depth
    }
}

fn eval(text: &str) -> Result<String, String> {
    let value = evaluate(text, &mut Names::default());
    value.and_then(|v| literal(&v)).map_err(|e| e.message)
}

#[track_caller]
fn all_are(cases: &[(&str, &str)]) {
    for (text, value) in cases {
        assert_eq!(eval(text).as_deref(), Ok(*value), "{text}");
    }
}

#[test]
fn arithmetic_is_that_of_python() {
    all_are(&[
        ("1 + 2 * 3", "7"),
        ("1 / 2", "0.5"),
        ("4 / 2", "2.0"),
        ("7 // 2", "3"),
        ("-7 // 2", "-4"),
        ("7 // -2", "-4"),
        ("-7 % 3", "2"),
        ("7 % -3", "-2"),
        ("-7.5 // 2", "-4.0"),
        ("-7.5 % 2", "0.5"),
        ("2 ** 10", "1024"),
        ("2 ** -1", "0.5"),
        ("-2 ** 2", "-4"),
        ("2 ** 3 ** 2", "512"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("1e-5", "1e-05"),
        ("True + 1", "2"),
        ("~5 & 0xff ^ 1 | 2", "251"),
        ("1 << 10 >> 3", "128"),
        ("10 ** 20", "100000000000000000000"),
        ("pi", "3.141592653589793"),
        ("math.radians(90)", "1.5707963267948966"),
        ("sin(pi / 6)", "0.49999999999999994"),
        ("-x", "-1.5"),
    ]);
}

#[test]
fn functions_are_those_of_python() {
    all_are(&[
        ("round(2.5)", "2"),
        ("round(0.125, 2)", "0.12"),
        ("round(2.675, 2)", "2.67"),
        ("round(1234, -2)", "1200"),
        ("round(1250, -2)", "1200"),
        ("int(-3.7)", "-3"),
        ("int('12')", "12"),
        ("float('1e3')", "1000.0"),
        ("str(1.0) + 'a'", "'1.0a'"),
        ("max(1, 2.5, 2)", "2.5"),
        ("min([3, 1, 2])", "1"),
        ("sum([0.1] * 3)", "0.30000000000000004"),
        ("sorted([3, 1, 2], reverse=True)", "[3, 2, 1]"),
        ("sorted(['b', 'A'], key=str.lower)", "['A', 'b']"),
        ("list(map(str.strip, [' a', 'b ']))", "['a', 'b']"),
        ("dict.fromkeys(['a'], 1)", "{'a': 1}"),
        ("set.union({1}, {2})", "{1, 2}"),
        ("list(range(1, 10, 3))", "[1, 4, 7]"),
        ("list(map(float, '1 2 3'.split()))", "[1.0, 2.0, 3.0]"),
        ("list(zip([1, 2], 'ab'))", "[(1, 'a'), (2, 'b')]"),
        ("list(enumerate('ab', 1))", "[(1, 'a'), (2, 'b')]"),
        ("dict(a=1, b='x')", "{'a': 1, 'b': 'x'}"),
        ("len(dict(a=1).keys())", "1"),
        ("divmod(-7, 2)", "(-4, 1)"),
        ("isinstance(True, int)", "True"),
        ("isinstance(1.0, (int, str))", "False"),
        ("math.floor(-1.5)", "-2"),
        ("hypot(3, 4)", "5.0"),
        ("hypot(7.0, sqrt(4.046875))", "7.283328565978608"),
        (
            "hypot(1e200, 1e200) + hypot(0, 0)",
            "1.414213562373095e+200",
        ),
        ("hypot(3e-310, 4e-310)", "5e-310"),
        ("math.gcd(12, 18)", "6"),
        ("any([0, 1]) and all([])", "True"),
        ("python.abs(-3)", "3"),
        ("python.type(1) == int and python.type([]) == list", "True"),
        ("[1, 2, 3][python.slice(1, None)]", "[2, 3]"),
    ]);
}

#[test]
fn functions_of_math_are_those_of_python() {
    all_are(&[
        ("math.remainder(1e20, 3.0)", "1.0"),
        ("math.remainder(-5, 4)", "-1.0"),
        ("math.asinh(0.3)", "0.29567304756342244"),
        ("math.asinh(-7.5)", "-2.712465305184344"),
        (
            "math.comb(128, 60)",
            "18686473065609137667262738408744720800",
        ),
        ("math.comb(10, 3) + math.perm(5)", "240"),
        ("math.perm(5, 2)", "20"),
        ("math.erf(0.5)", "0.5204998778130465"),
        ("round(math.erfc(2), 15)", "0.004677734981047"),
        ("math.gamma(5)", "24.0"),
        ("math.frexp(10)", "(0.625, 4)"),
        ("math.ulp(1.0)", "2.220446049250313e-16"),
        ("math.nextafter(1, 2)", "1.0000000000000002"),
        ("math.ldexp(3, -1075)", "1e-323"),
        ("math.fsum([1e100, 1.0, -1e100, 1e-3])", "1.001"),
        ("math.fsum([1e-16, 1.0, 1e16])", "1.0000000000000002e+16"),
        ("math.gcd(-4, 6)", "2"),
    ]);
}

#[test]
fn texts_and_containers_are_those_of_python() {
    all_are(&[
        ("'a' 'b' * 2", "'abab'"),
        ("s[:4]", "'left'"),
        ("s[::-1]", "'gel_tfel'"),
        ("s.split('_')[-1].upper()", "'LEG'"),
        ("s.replace('left', 'right')", "'right_leg'"),
        ("'%s_%02d' % (s, 3)", "'left_leg_03'"),
        ("'{}-{:.2f}'.format(s, x)", "'left_leg-1.50'"),
        (
            "'{0:>5}|{a:<4}|{0!r}'.format('u', a=2)",
            "\"    u|2   |'u'\"",
        ),
        (
            "'%.3g %e %5.1f' % (0.00012345, 12, x)",
            "'0.000123 1.200000e+01   1.5'",
        ),
        ("'leg' in s and 'arm' not in s", "True"),
        ("[1, 2] + [3]", "[1, 2, 3]"),
        ("[i * i for i in range(4) if i % 2]", "[1, 9]"),
        ("[(a, b) for a in 'xy' for b in [1, 2]][2]", "('y', 1)"),
        ("sum(i for i in range(5))", "10"),
        ("{'a': [1, 2]}['a'][1]", "2"),
        ("{1: 'a', 1.0: 'b', True: 'c'}", "{1: 'c'}"),
        ("' '.join(str(i) for i in [1, 2.0])", "'1 2.0'"),
        ("'a' if n > 5 else 'b'", "'a'"),
        ("1 < n <= 7 != 8", "True"),
        ("not n == 7 or None", "None"),
        ("(1,)", "(1,)"),
        ("1, 2", "(1, 2)"),
        ("'it\\'s' \"\\n\"", "\"it's\\n\""),
        ("'a,b,,c'.split(',', 2)", "['a', 'b', ',c']"),
        ("' a  b '.split()", "['a', 'b']"),
        ("'abc'.center(6, '*')", "'*abc**'"),
        (
            "'7'.zfill(3) + '-7'.zfill(4) + 'abcd'.zfill(2)",
            "'007-007abcd'",
        ),
        ("' a  b  c '.split(None, 1)", "['a', 'b  c ']"),
        ("' a  b  c '.rsplit(None, 1)", "[' a  b', 'c']"),
        ("'a b c'.split(maxsplit=1)", "['a', 'b c']"),
        ("'a,b,c'.split(sep=',', maxsplit=1)", "['a', 'b,c']"),
        ("' a '.split(None, 0)", "['a ']"),
        ("[*'ab', 1, *[2]]", "['a', 'b', 1, 2]"),
        ("(*[1], 2)", "(1, 2)"),
        ("{**dict(a=1), 'b': 2}", "{'a': 1, 'b': 2}"),
        ("'xyx'.strip('x')", "'y'"),
        ("len(range(10 ** 12)[5:])", "999999999995"),
        ("range(10)[::-2]", "range(9, -1, -2)"),
        ("range(10)[2:20:3]", "range(2, 10, 3)"),
        ("5 in range(0, 10, 5) and 3 not in range(10, 0, -2)", "True"),
        ("'%d' % 1e20", "'100000000000000000000'"),
        ("max(*[1, 5, 2])", "5"),
        ("'abcabc'.find('b', 2), 'abcabc'.rfind('a', 0, 3)", "(4, 0)"),
        (
            "'abcabc'.index('c', -2), 'abcabc'.rindex('b', None, -2)",
            "(5, 1)",
        ),
        (
            "'abc'.find('', 5), 'abc'.find('', 3), 'abc'.find('c', 3, 1)",
            "(-1, 3, -1)",
        ),
        (
            "'abcabc'.count('b', 2, 4), 'abc'.count('', 1), 'abc'.count('', 5)",
            "(0, 3, 0)",
        ),
        ("'é日b'.find('b', -1), 'é日b'.find('日')", "(2, 1)"),
        (
            "'abc'.startswith('b', 1), 'abc'.startswith('', 4)",
            "(True, False)",
        ),
        ("'abc'.endswith(('x', 'b'), 0, 2)", "True"),
        ("[1, 2, 1].index(1, 1), (1, 2, 1).index(1, -1)", "(2, 2)"),
        (
            "'a\\tb\\n\\tc'.expandtabs(4) + 'a\\tb'.expandtabs(tabsize=0)",
            "'a   b\\n    cab'",
        ),
        (
            "[(d.popitem(), d) for d in [dict(a=1, b=2)]]",
            "[(('b', 2), {'a': 1})]",
        ),
        ("[a + b + c for a, (b, c) in [(1, (2, 3))]]", "[6]"),
        (
            "[x for x, in [(1,)]] + [x for [x] in [(2,)]] + [x for (x) in [3]]",
            "[1, 2, 3]",
        ),
    ]);
}

#[test]
fn mistakes_are_errors_with_a_place() {
    for (text, at, message) in [
        ("1 + lenght", 4, "name 'lenght' is not defined"),
        ("lambda y: y", 0, "`lambda` is unsupported"),
        ("f'{x}'", 0, "f-strings are unsupported"),
        ("1 +", 3, "syntax error: a value must be here, got the end"),
        ("(1", 2, "syntax error: ')' must be here, got the end"),
        (
            "1 2",
            2,
            "syntax error: the end of the expression must be here, got '2'",
        ),
        (
            "007",
            0,
            "syntax error: a whole number must not start with 0",
        ),
        (
            "'a' + 1",
            4,
            "operator '+' must have operands that fit, got str and int; convert with str",
        ),
        ("1 / 0", 2, "division by zero"),
        ("1 + 2 - 3 / 0 + 4", 10, "division by zero"),
        (
            "[a for (a, b in s]",
            13,
            "syntax error: ')' must be here, got 'in'",
        ),
        (
            "[a for (a, b) in [[1]]]",
            0,
            "an item must have 2 parts to unpack, got 1",
        ),
        ("[1].index(1, 1)", 9, "1 is not in the list"),
        (
            "dict().popitem()",
            14,
            "popitem() must have a dict with entries",
        ),
        ("len('a', 'b')", 3, "len() must have 1 argument, got 2"),
        (
            "str.lower(1)",
            9,
            "str.lower() must have a str as its first argument, got an int",
        ),
        ("[1][3]", 3, "the index must be below 1"),
        (
            "s.__class__",
            1,
            "a name must not start with two underscores",
        ),
        ("sqrt(-1)", 4, "math.sqrt(-1) is not defined"),
        ("dict(a=1).a", 9, "a dict has no attribute 'a'; write ['a']"),
        ("1 if 2", 6, "syntax error: 'else' must be here"),
        ("3j", 0, "complex numbers are unsupported"),
        ("2x", 0, "syntax error: '2' is followed by a letter"),
        ("(*[1])", 5, "syntax error: ',' after '*ITEMS' must be here"),
        ("'%d' % nan", 5, "int() must have a finite number"),
        (
            "'%d' % 1e40",
            5,
            "a whole number must have at most 127 bits",
        ),
        ("len(range(2 ** 100))", 3, "len() must be below 2^63"),
        ("python.complex(1)", 14, "complex() is unsupported"),
        ("pow(2)", 3, "math.pow() must have 2 arguments, got 1"),
    ] {
        let error = evaluate(text, &mut Names::default()).unwrap_err();
        assert!(
            error.message.starts_with(message),
            "{text}: {}",
            error.message
        );
        assert_eq!(error.at, Some(at), "{text}");
    }
}
