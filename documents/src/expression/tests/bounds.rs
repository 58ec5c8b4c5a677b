//! Bounds on size, depth and work.

use super::*;

#[test]
fn values_nested_to_any_depth_are_dropped() {
    for step in [
        "[a.pop()]",
        "(a.pop(),)",
        "dict(b=a.pop())",
        "python.reversed([a.pop()])",
    ] {
        let text = format!("[[a.append({step}) for i in range(20000)][0] for a in [[1]]]");
        let value = evaluate(&text, &mut Names::default());
        assert_eq!(
            value.map(|v| literal(&v).ok()),
            Ok(Some("[None]".into())),
            "{step}"
        );
    }
}

#[test]
fn values_with_shared_parts_take_bounded_work() {
    // Sixty steps make a list or a tuple of 2^60 parts.
    let with_lists = |use_of: &str| {
        let [a, b] = ["a", "b"]
            .map(|name| format!("[{name}.append([{name}[-1], {name}[-1]]) for i in range(60)]"));
        format!("[[{a}, {b}, {use_of}] for a in [[1]] for b in [[1]]]")
    };
    let with_tuples = |use_of: &str| {
        let a = "[a.append((a[-1], a[-1])) for i in range(60)]";
        format!("[[{a}, {use_of}] for a in [[int]]]")
    };
    let with_keys = with_tuples("dict([(a[-1], 1)])").replace("[[int]]", "[[1]]");
    for text in [
        with_lists("a == b"),
        with_lists("a < b"),
        with_lists("a[-1] in b"),
        with_lists("b.count(a[-1])"),
        with_tuples("python.isinstance('', a[-1])"),
        with_keys,
    ] {
        let error = evaluate(&text, &mut Names::default()).unwrap_err();
        assert_eq!(error.kind, PyErrorKind::Limit, "{text}: {}", error.message);
    }
}

#[test]
fn nested_values_are_compared_to_a_bounded_depth() {
    let text = "[[[a.append([a.pop()]) for i in range(20000)], \
                [b.append([b.pop(), 0]) for i in range(20000)], a < b] for a in [[1]] for b in [[1]]]";
    let error = evaluate(text, &mut Names::default()).unwrap_err();
    assert!(
        error.message.contains("at most 100 deep"),
        "{}",
        error.message
    );
}

#[test]
fn methods_that_take_constant_time_cost_as_little() {
    let grow = "[[a.append(i) for i in range(9000)], [a.pop() for i in range(9000)]]";
    let mut names = Names::default();
    evaluate(&format!("[{grow} for a in [[]]]"), &mut names).unwrap();
    assert!(names.work < 300_000, "{}", names.work);
}

#[test]
fn size_depth_and_work_are_bounded() {
    let deep = "(".repeat(100_000);
    let chain = "-".repeat(100_000) + "1";
    let loops = format!("[1{}]", " for a in 'a'".repeat(10_000));
    let cut = "'a' * 1000000,".repeat(100);
    let texts = format!("'{}' % ({cut})", "%.0s".repeat(100));
    let fields = format!("'{}'.format({cut})", "{!r:.0}".repeat(100));
    let names = format!(
        "[dict({}) for d in [dict((str(i), i) for i in range(9999))]]",
        "**d, ".repeat(100)
    );
    for text in [
        "'a' * 10 ** 9",
        "10 ** 10 ** 10",
        "2 ** 127",
        "[0] * 10 ** 8",
        "list(range(10 ** 9))",
        "[i for i in range(99999) for j in range(99999)]",
        "1 << 1000",
        "'%1000000000d' % 1",
        "'{:999999999}'.format(1)",
        "'a'.ljust(10 ** 12)",
        "math.factorial(10 ** 6)",
        "'%.70000f' % 1",
        "'{:.70000g}'.format(1.5)",
        "[x for x in range(10 ** 12)[:]]",
        "99999999999999999999999999999999999999999999",
        &deep,
        &chain,
        &loops,
        &texts,
        &fields,
        &names,
    ] {
        let error = evaluate(text, &mut Names::default()).unwrap_err();
        assert_eq!(error.kind, PyErrorKind::Limit, "{}", error.message);
    }
}

#[test]
fn long_chains_of_operators_are_evaluated() {
    let sum = "1".to_string() + &" + 1".repeat(20_000);
    let either = "0".to_string() + &" or 0".repeat(20_000) + " or 5";
    let both = "1".to_string() + &" and 1".repeat(20_000) + " and 7";
    all_are(&[(&sum, "20001"), (&either, "5"), (&both, "7")]);
    let long = "0 or ".repeat(MAX_TEXT / 4) + "1";
    let error = evaluate(&long, &mut Names::default()).unwrap_err();
    assert_eq!(error.kind, PyErrorKind::Limit, "{}", error.message);
}

#[test]
fn sorting_ends_with_the_work_that_is_left() {
    let mut names = Names::default();
    let text = "sorted([[[0] * 9999 for j in range(2)] for i in range(99)])";
    let error = evaluate(text, &mut names).unwrap_err();
    assert_eq!(error.kind, PyErrorKind::Limit, "{}", error.message);
    assert!(names.work < 2_000_000, "{}", names.work);
}
