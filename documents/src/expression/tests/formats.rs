//! Formats of numbers and texts, as by Python.

use super::*;

#[test]
fn formats_are_those_of_python() {
    all_are(&[
        ("'{:#06x}'.format(255)", "'0x00ff'"),
        ("'{:.3}|{:.4}'.format(123.0, 123.0)", "'1.23e+02|123.0'"),
        (
            "'{:08,}|{:09,}'.format(1234, 1234)",
            "'0,001,234|0,001,234'",
        ),
        (
            "'{:_x}|{:_}'.format(0x12345678, 1234567)",
            "'1234_5678|1_234_567'",
        ),
        ("'{:,.0%}'.format(12.345)", "'1,234%'"),
        (
            "'{:08,}|{:,.2f}'.format(math.inf, 1e6)",
            "'00000inf|1,000,000.00'",
        ),
        (
            "'{:#.0f} {:#g} {:#.0e}'.format(1, 1, 1)",
            "'1. 1.00000 1.e+00'",
        ),
        (
            "'{:05}|{:*^6}|{:.1}'.format('ab', 'ab', 'ab')",
            "'ab000|**ab**|a'",
        ),
        (
            "'{:=+6}|{:<06}|{:*>06}'.format(3, 3, 3)",
            "'+    3|300000|*****3'",
        ),
        (
            "'{:G} {:E} {:g}'.format(1e-7, 12345.678, 1e20)",
            "'1E-07 1.234568E+04 1e+20'",
        ),
    ]);
}

#[test]
fn percent_formats_are_those_of_python() {
    all_are(&[
        ("'%#06x|%#X|%#o' % (255, 255, 8)", "'0x00ff|0XFF|0o10'"),
        ("'%0+5d|% d|%-5d|' % (3, 3, 3)", "'+0003| 3|3    |'"),
        ("'%.3d|%.2d|%6.3d' % (7, 1, 7)", "'007|01|   007'"),
        ("'%c%c' % (65, 'b')", "'Ab'"),
        (
            "'%5s|%-5s|%.1s|%05s' % ('ab', 'ab', 'ab', 'ab')",
            "'   ab|ab   |a|   ab'",
        ),
        ("'%(a(b))s %%' % {'a(b)': 1}", "'1 %'"),
        ("'%.f %#.0f %05f' % (2.5, 1, math.inf)", "'2 1. 00inf'"),
        ("'a' % [1] + 'b' % range(3)", "'ab'"),
    ]);
}

#[test]
fn wrong_formats_are_errors() {
    for (text, message) in [
        ("'{:d}'.format(1.5)", "invalid format specification 'd'"),
        (
            "'{:.2d}'.format(1)",
            "the format of a whole number must have no precision",
        ),
        ("'{:,x}'.format(1)", "invalid format specification ',x'"),
        (
            "'{:+}'.format('a')",
            "the format of a text must have no sign",
        ),
        ("'{!x}'.format(1)", "the conversion '!x' is unsupported"),
        (
            "'%d' % 'a'",
            "a value for '%d' must be a whole number, got a str",
        ),
        (
            "'%x' % 1.5",
            "a value for '%x' must be a whole number, got a float",
        ),
        (
            "'%c' % 'ab'",
            "a value for '%c' must be one character or its number",
        ),
        ("'%(a)s' % 1", "'%(a)' must have a dict, got an int"),
        ("'%*d' % (1, 2)", "'*' in a format of '%' is unsupported"),
        ("'%(a' % dict(a=1)", "'%(' must have its ')'"),
        ("'%s %s' % (1,)", "'%' must have a value for each format"),
        ("'%s' % (1, 2)", "'%' must have a format for each value"),
        ("'%y' % 1", "the format '%y' is unsupported"),
    ] {
        let error = eval(text).unwrap_err();
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

#[test]
fn reserved_words_may_touch_a_text() {
    all_are(&[
        ("'l' if n else'r'", "'l'"),
        ("'a' in'abc'", "True"),
        ("not''", "True"),
    ]);
    let error = eval("x'a'").unwrap_err();
    assert_eq!(error, "syntax error: a string follows a name");
}
