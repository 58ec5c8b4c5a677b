//! Two writers of one file: the later image replaced the earlier one without a word. Right is one
//! writer per file, so the diagram is refused.

use std::path::Path;
use tarragon_framework::prelude::*;
use tarragon_framework::warnings::collect;
use tarragon_sensors::*;

/// A port: name, pattern below a folder, period and start time (s).
type Port<'a> = (&'a str, &'a str, f64, f64);

/// Declares a port for images of colour, depth or labels, after the first letter of its name.
fn declare(writer: &mut ImageWriter, folder: &Path, (name, pattern, period, start): Port<'_>) {
    let pattern = folder.join(pattern);
    // `join` keeps the spelling of the pattern.
    let pattern = pattern.to_str().unwrap();
    match name.chars().next() {
        Some('d') => {
            let port = writer.declare_image_input_port::<Depth32F>(name, pattern, period, start);
            port.map(|_| ())
        }
        Some('l') => {
            let port = writer.declare_image_input_port::<Label16I>(name, pattern, period, start);
            port.map(|_| ())
        }
        _ => {
            let port = writer.declare_image_input_port::<Rgba8U>(name, pattern, period, start);
            port.map(|_| ())
        }
    }
    .unwrap();
}

/// Builds a diagram of writers with some ports each, in a new folder that has folders `a` and
/// `depth`. Returns the error and the warnings.
fn build(writers: &[&[Port<'_>]]) -> (Option<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "depth"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("a"), folder.path().join("link")).unwrap();
    let mut b = DiagramBuilder::new();
    for (i, ports) in writers.iter().enumerate() {
        let mut writer = ImageWriter::new();
        for port in *ports {
            declare(&mut writer, folder.path(), *port);
        }
        b.add_f64(&format!("writer{i}"), writer);
    }
    let (built, warnings) = collect(|| b.build());
    (built.err().map(|e| e.to_string()), warnings)
}

/// Checks two ports, of one writer and of two.
#[track_caller]
fn check_pair(first: Port<'_>, second: Port<'_>, check: impl Fn(Option<String>, Vec<String>)) {
    for writers in [&[&[first, second][..]][..], &[&[first], &[second]]] {
        let (error, warnings) = build(writers);
        check(error, warnings);
    }
}

#[track_caller]
fn refused(first: Port<'_>, second: Port<'_>, file: &str) {
    check_pair(first, second, |error, _| {
        let error = error.unwrap_or_else(|| panic!("{first:?} and {second:?} were accepted"));
        let (first, second) = (first.0, second.0);
        for words in [
            &*format!("port '{second}': file names must differ from those of"),
            &format!("port '{first}'"),
            &format!("/{file}'"),
            "{port_name}",
        ] {
            assert!(error.contains(words), "{words}: {error}");
        }
    });
}

#[track_caller]
fn accepted(first: Port<'_>, second: Port<'_>) {
    check_pair(first, second, |error, warnings| {
        assert_eq!((error, warnings), (None, vec![]), "{first:?}, {second:?}");
    });
}

#[test]
fn ports_with_the_same_file_names_are_refused() {
    let pairs = [
        // Neither count nor time separates ports.
        ("a/{count}", "a/{count}", "a/0.png"),
        ("a/{count:04}", "a/{count:04d}", "a/0000.png"),
        ("a/{time_usec}", "a/{time_usec}", "a/0.png"),
        (
            "a/{image_type}_{count}",
            "a/{image_type}_{count}",
            "a/color_0.png",
        ),
        (
            "a/{image_type}_{count}",
            "a/color_{time_msec}",
            "a/color_0.png",
        ),
        ("a/x", "a/x.png", "a/x.png"),
        ("a/x.jpg", "a/x.jpg", "a/x.jpg"),
        // Spellings of one path.
        ("a/x_{count}", "./a//x_{count}", "a/x_0.png"),
        ("a/x_{count}", "depth/../a/./x_{count}", "a/x_0.png"),
        // Only some of the names.
        ("a/{count}", "a/{count:02}", "a/10.png"),
        ("a/{count}", "a/7", "a/7.png"),
    ];
    for (first, second, file) in pairs {
        refused(("cam", first, 0.1, 0.0), ("top", second, 0.1, 0.0), file);
    }
    // The first port's image 10 and the second one's image 0.
    let pattern = "a/{port_name}{count}";
    refused(
        ("cam1", pattern, 0.1, 0.0),
        ("cam11", pattern, 0.1, 0.0),
        "a/cam110.png",
    );
    // Other periods, with the start in common; other types under one extension.
    let pattern = "a/{time_msec}";
    refused(
        ("cam", pattern, 0.3, 0.0),
        ("top", pattern, 0.7, 0.0),
        "a/0.png",
    );
    refused(
        ("cam", pattern, 0.3, 0.1),
        ("top", pattern, 0.7, 0.0),
        "a/700.png",
    );
    refused(
        ("cam", pattern, 0.3, 0.0),
        ("label", pattern, 0.3, 0.0),
        "a/0.png",
    );
    if cfg!(unix) {
        refused(
            ("cam", "a/x", 0.3, 0.0),
            ("top", "link/x", 0.3, 0.0),
            "a/x.png",
        );
    }
}

#[test]
fn ports_with_names_of_their_own_are_accepted() {
    for pattern in [
        "a/{port_name}",
        "a/{port_name}_{count}",
        "a/{image_type}_{port_name}_{time_usec}",
    ] {
        accepted(("cam", pattern, 0.1, 0.0), ("top", pattern, 0.1, 0.0));
        accepted(("cam1", pattern, 0.1, 0.0), ("cam11", pattern, 0.1, 0.0));
    }
    // Types and extensions separate ports.
    let pattern = "a/{image_type}_{count}";
    accepted(("cam", pattern, 0.1, 0.0), ("label", pattern, 0.1, 0.0));
    accepted(
        ("cam", "a/{count}", 0.1, 0.0),
        ("depth", "a/{count}", 0.1, 0.0),
    );
    accepted(
        ("cam", "a/{count}.jpg", 0.1, 0.0),
        ("top", "a/{count}.png", 0.1, 0.0),
    );
    accepted(
        ("cam", "a/{count}", 0.1, 0.0),
        ("top", "depth/{count}", 0.1, 0.0),
    );
    // A port that writes one file again and again.
    let (error, warnings) = build(&[&[("cam", "a/latest", 0.1, 0.0)]]);
    assert_eq!((error, warnings), (None, vec![]));
}

/// The times of two ports may alternate, but a forced publish writes both at once.
#[test]
fn ports_that_only_times_separate_are_warned_about() {
    let pattern = "a/{time_msec}";
    let (first, second) = (("cam", pattern, 1.0, 0.0), ("top", pattern, 1.0, 0.5));
    check_pair(first, second, |error, warnings| {
        assert_eq!(error, None);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        let words = "port 'top': at a forced publish, file names are those of";
        assert!(warnings[0].contains(words), "{warnings:?}");
    });
}

/// A video and images, and two videos.
#[test]
fn videos_count_as_writers() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut b = DiagramBuilder::new();
    b.add_f64(
        "left",
        VideoWriter::<Rgba8U>::new(path("x.apng"), 10.0).unwrap(),
    );
    b.add_f64(
        "right",
        VideoWriter::<Rgba8U>::new(path("./x.apng"), 10.0).unwrap(),
    );
    let error = b.build().err().unwrap().to_string();
    let words = "system 'right': file names must differ from those of system 'left', got";
    assert!(error.contains(words), "{error}");
    assert!(error.contains("x.apng'"), "{error}");
}
