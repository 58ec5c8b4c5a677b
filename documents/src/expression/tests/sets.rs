//! Sets, and functions that make new kinds of values.

use super::*;

/// Values that Python 3.11.7 computes.
#[rustfmt::skip]
#[test]
fn sets_and_types_are_those_of_python() {
    all_are(&[
        ("set([3, 1, 2, 1])", "{1, 2, 3}"),
        ("frozenset('a')", "frozenset({'a'})"),
        ("set()", "set()"),
        ("frozenset()", "frozenset()"),
        ("{3, 1, 2}", "{1, 2, 3}"),
        ("{*[1, 2], 3}", "{1, 2, 3}"),
        ("{x % 3 for x in range(9)}", "{0, 1, 2}"),
        ("{1: 2}", "{1: 2}"),
        ("{}", "{}"),
        ("set([30, 1, 17, 9, 8, 16, 24, 32])", "{32, 1, 8, 9, 16, 17, 24, 30}"),
        ("sorted(set('banana'))", "['a', 'b', 'n']"),
        ("len(set('banana'))", "3"),
        ("1 in {1, 2}", "True"),
        ("'a' in set('abc')", "True"),
        ("{1, 2} | {3}", "{1, 2, 3}"),
        ("{1, 2, 3} & {2, 3, 4}", "{2, 3}"),
        ("{1, 2, 3} - {2}", "{1, 3}"),
        ("{1, 2} ^ {2, 3}", "{1, 3}"),
        ("{1, 2} == {2, 1}", "True"),
        ("{1} < {1, 2}", "True"),
        ("{1, 2} <= {1, 2}", "True"),
        ("{1, 3} < {1, 2}", "False"),
        ("{1, 2} > {2}", "True"),
        ("{1, 2}.union([3], (4,))", "{1, 2, 3, 4}"),
        ("{1, 2, 3}.intersection([2, 3], {3})", "{3}"),
        ("{1, 2}.difference([1])", "{2}"),
        ("{1, 2}.symmetric_difference([2, 5])", "{1, 5}"),
        ("{1}.issubset([1, 2])", "True"),
        ("{1, 2}.issuperset([1])", "True"),
        ("{1}.isdisjoint([2])", "True"),
        ("[[s.add(3), s.discard(1), s.update([7, 8]), s] for s in [{1, 2}]]", "[[None, None, None, {2, 3, 7, 8}]]"),
        ("{5}.pop()", "5"),
        ("[[s.remove(1), s] for s in [{1, 2}]]", "[[None, {2}]]"),
        ("[[s.clear(), s.copy(), s] for s in [{1, 2}]]", "[[None, set(), set()]]"),
        ("[[s.intersection_update([2]), s] for s in [{1, 2}]]", "[[None, {2}]]"),
        ("[[s.difference_update([2]), s] for s in [{1, 2}]]", "[[None, {1}]]"),
        ("[[s.symmetric_difference_update([2, 3]), s] for s in [{1, 2}]]", "[[None, {1, 3}]]"),
        ("dict([(frozenset([1, 2]), 'a')])[frozenset([2, 1])]", "'a'"),
        ("frozenset([1, 2]) == {1, 2}", "True"),
        ("frozenset([1]) | {2}", "frozenset({1, 2})"),
        ("{1} | frozenset([2])", "{1, 2}"),
        ("set([1.5, -1, True, 0, -2, 1e20, 0.1])", "{0, 1.5, True, 0.1, 1e+20, -1, -2}"),
        ("set([(1, 2), (3, 4)])", "{(1, 2), (3, 4)}"),
        ("bool(set())", "False"),
        ("max({3, 9, 2})", "9"),
        ("sum({1, 2, 3})", "6"),
        ("list({3: 1, 1: 2}.keys() & {1, 2})", "[1]"),
        ("list(map(str, {2, 1}))", "['1', '2']"),
        ("tuple({2, 1})", "(1, 2)"),
        ("isinstance({1}, set)", "True"),
        ("isinstance({1}, frozenset)", "False"),
        ("type({1})", "<class 'set'>"),
        ("type(None)", "<class 'NoneType'>"),
        ("type(slice(1))", "<class 'slice'>"),
        ("issubclass(bool, int)", "True"),
        ("issubclass(int, (str, float))", "False"),
        ("hash(1)", "1"),
        ("hash(-1)", "-2"),
        ("hash(2 ** 61 - 1)", "0"),
        ("hash(2 ** 70)", "512"),
        ("hash(0.5)", "1152921504606846976"),
        ("hash(-3.75)", "-1729382256910270467"),
        ("hash(1e300)", "1224995262755759164"),
        ("hash(3.0)", "3"),
        ("hash((1, 2.5, -1))", "-1302100659107094140"),
        ("hash(())", "5740354900026072187"),
        ("hash(float('inf'))", "314159"),
        ("hash(True)", "1"),
        ("dict().fromkeys([1, 2], 'x')", "{1: 'x', 2: 'x'}"),
        ("dict().fromkeys('ab')", "{'a': None, 'b': None}"),
        ("range(1, 9, 2).step", "2"),
        ("slice(1, 2).stop", "2"),
        ("slice(1, 5, 2)", "slice(1, 5, 2)"),
        ("(1.5).real", "1.5"),
        ("True.real", "1"),
        ("(7).denominator", "1"),
        ("str({1, 2})", "'{1, 2}'"),
        ("{'a', 'a'}", "{'a'}"),
        ("set(range(20)) - set(range(3, 18))", "{0, 1, 2, 18, 19}"),
        ("set([100 - 7 * i for i in range(12)])", "{65, 100, 37, 72, 44, 79, 51, 86, 23, 58, 93, 30}"),
        ("set(range(0, 4000, 64))", "{0, 256, 128, 384, 512, 1024, 1152, 640, 768, 896, 2112, 2240, 2368, 2496, 2624, 2752, 2880, 3008, 3136, 3264, 1280, 3392, 1408, 3520, 1536, 3648, 1664, 3776, 1792, 3904, 1920, 64, 192, 320, 448, 576, 1088, 704, 832, 960, 1216, 2048, 2176, 2304, 2432, 2560, 2688, 2816, 2944, 3072, 3200, 3328, 1344, 3456, 1472, 3584, 1600, 3712, 1728, 3840, 1856, 3968, 1984}"),
        ("list(set(i * i for i in range(30)))", "[0, 1, 256, 4, 9, 16, 144, 400, 529, 784, 25, 289, 36, 676, 169, 49, 441, 64, 576, 196, 324, 841, 81, 729, 225, 100, 484, 361, 625, 121]"),
        ("{(1,): 2}", "{(1,): 2}"),
        ("{1,}", "{1}"),
        ("{ x for x in [1] if x }", "{1}"),
        ("sorted({3, 1} | {2}, reverse=True)", "[3, 2, 1]"),
        ("any({0, False})", "False"),
        ("all({1, 2})", "True"),
        ("list(zip({1, 2}, 'ab'))", "[(1, 'a'), (2, 'b')]"),
        ("list(enumerate({4}))", "[(0, 4)]"),
        ("list(filter(None, {0, 1, 2}))", "[1, 2]"),
        ("set(reversed([1, 2, 3]))", "{1, 2, 3}"),
        ("repr({'a'})", "\"{'a'}\""),
        ("'%s' % {1}", "'{1}'"),
        ("'{}'.format({1})", "'{1}'"),
        ("set([1, 1.0, True])", "{1}"),
        ("set([1.0, 1])", "{1.0}"),
        ("{-0.0}", "{-0.0}"),
        ("set([0.1, 0.2, 0.3, 0.7, 1.7, 2.9])", "{0.1, 0.7, 0.3, 0.2, 1.7, 2.9}"),
    ]);
}

#[test]
fn mistakes_with_sets_are_errors() {
    for (text, message) in [
        ("{1}[0]", "a set has no members by index"),
        (
            "{[1]}",
            "a key or a member of a set must be hashable, got a list",
        ),
        (
            "{{1}}",
            "a key or a member of a set must be hashable, got a set",
        ),
        (
            "frozenset([1]).add(2)",
            "a frozenset has no attribute 'add'",
        ),
        ("{1}.remove(2)", "the set has no member 2"),
        ("set().pop()", "pop() must have a set with members"),
        (
            "{1} + {2}",
            "operator '+' must have operands that fit, got set and set",
        ),
        (
            "{1} | [2]",
            "operator '|' must have operands that fit, got set and list",
        ),
        ("set(1)", "an int has no members to iterate over"),
        ("{1, 2: 3}", "syntax error: '}' must be here"),
        ("{1: 2, 3}", "syntax error: ':' must be here"),
        ("hash('a')", "the argument of hash() must be a number"),
        ("hash([])", "a key or a member of a set must be hashable"),
        ("python.complex(1)", "complex() is unsupported"),
        ("python.vars(1)", "vars() is unsupported"),
        ("type(map(int, []))", "type() of an iterator is unsupported"),
    ] {
        let error = evaluate(text, &mut Names::default()).unwrap_err();
        let found = &error.message;
        assert!(found.starts_with(message), "{text}: {found}");
    }
}

#[test]
fn sets_take_bounded_work() {
    for text in [
        "[[[s.update(range(i * 1000, i * 1000 + 1000)) for i in range(1000)]] for s in [set()]]",
        "[set(range(1000)) for i in range(10000)]",
        "[s.copy() for s in [set(range(10000))] for i in range(10000)]",
        "[[s.append(frozenset([s[-1]])) for i in range(1000)] for s in [[1]]]",
    ] {
        let error = evaluate(text, &mut Names::default()).unwrap_err();
        assert_eq!(error.kind, PyErrorKind::Limit, "{text}: {}", error.message);
    }
}
