//! Writes the tables.

use crate::{SETTINGS, Worst};
use std::fmt::Write;

/// Promised accuracy of values (m, or per extent) and of derivatives.
pub(crate) const VALUE: f64 = 1e-12;
pub(crate) const DERIVATIVE: f64 = 1e-8;

/// Worst errors published in Drake's documentation (`QueryObject`, version 1.51) for every pair:
/// penetration and distance in double, penetration and distance in AutoDiffXd; empty where it
/// throws.
const DRAKE: [([&str; 2], [&str; 4]); 27] = [
    (["Box", "Box"], ["2e-15", "4e-15", "", ""]),
    (["Box", "Capsule"], ["3e-5", "3e-6", "", ""]),
    (["Capsule", "Capsule"], ["2e-5", "2e-5", "", ""]),
    (["Box", "Convex"], ["2e-15", "3e-15", "", ""]),
    (["Capsule", "Convex"], ["3e-5", "2e-5", "", ""]),
    (["Convex", "Convex"], ["2e-15", "3e-15", "", ""]),
    (["Box", "Cylinder"], ["1e-3", "6e-6", "", ""]),
    (["Capsule", "Cylinder"], ["4e-5", "1e-5", "", ""]),
    (["Convex", "Cylinder"], ["1e-3", "6e-6", "", ""]),
    (["Cylinder", "Cylinder"], ["2e-3", "2e-5", "", ""]),
    (["Box", "Ellipsoid"], ["4e-4", "9e-6", "", ""]),
    (["Capsule", "Ellipsoid"], ["2e-4", "5e-6", "", ""]),
    (["Convex", "Ellipsoid"], ["4e-4", "9e-6", "", ""]),
    (["Cylinder", "Ellipsoid"], ["2e-3", "5e-5", "", ""]),
    (["Ellipsoid", "Ellipsoid"], ["5e-4", "2e-5", "", ""]),
    (["Box", "HalfSpace"], ["6e-15", "", "", ""]),
    (["Capsule", "HalfSpace"], ["4e-15", "", "", ""]),
    (["Convex", "HalfSpace"], ["3e-15", "", "", ""]),
    (["Cylinder", "HalfSpace"], ["4e-15", "", "", ""]),
    (["Ellipsoid", "HalfSpace"], ["3e-15", "", "", ""]),
    (["Box", "Sphere"], ["3e-15", "3e-15", "2e-15", "2e-15"]),
    (["Capsule", "Sphere"], ["5e-15", "6e-15", "3e-15", ""]),
    (["Convex", "Sphere"], ["3e-5", "3e-6", "", ""]),
    (["Cylinder", "Sphere"], ["5e-15", "5e-15", "2e-15", ""]),
    (["Ellipsoid", "Sphere"], ["2e-4", "4e-5", "", ""]),
    (
        ["HalfSpace", "Sphere"],
        ["3e-15", "3e-15", "2e-15", "2e-15"],
    ),
    (["Sphere", "Sphere"], ["5e-15", "6e-15", "5e-15", "5e-15"]),
];

/// A pair of types and its worst errors in each setting.
type Row = ([&'static str; 2], [Worst; SETTINGS.len()]);

/// The text of the document, and whether all promises are kept.
pub(crate) fn tables(rows: &[Row], count: usize) -> (String, bool) {
    let mut kept = true;
    let mut cell = |error: f64, promised: f64| {
        if error <= promised {
            format!("{error:.0e}")
        } else {
            kept = false;
            format!("**{error:.0e}**")
        }
    };
    let mut text = format!(
        "# Accuracy of the proximity queries\n\n\
         Written by `cargo run --release --example proximity_accuracy {count}`; [the\n\
         program](../examples/proximity_accuracy/main.rs) describes the method. Every number is the worst\n\
         error over {count} configurations whose signed distance is known to 1e-16 of the extents or better.\n\
         Shapes measure 0.2 m unless stated otherwise. A Mesh behaves like its Convex. The distance between\n\
         two half spaces is undefined.\n\n\
         The promise is {VALUE:e} m for values ({VALUE:e} of the larger extent, or of the distance, where these are\n\
         not 0.2 m) and {DERIVATIVE:e} for derivatives. Larger errors are **bold**.\n\n\
         ## 2 mm deep and 2 mm apart\n\n\
         Errors of values are in metres; those of the derivatives with respect to position have no unit.\n\
         Drake's figures are the ones that the documentation of its `QueryObject` publishes for version 1.51.\n\
         They come from other configurations, so only orders of magnitude are comparable.\n\n\
         | pair | Drake, deep | deep | Drake, apart | apart | Drake AutoDiffXd, deep / apart | AutoDiff | derivatives |\n\
         |---|---|---|---|---|---|---|---|\n"
    );
    let throws = |text: &str| if text.is_empty() { "throws" } else { text }.to_owned();
    for ([a, b], worst) in rows {
        let published = DRAKE.iter().find(|(pair, _)| pair == &[*a, *b]);
        let published = published.map_or(["?"; 4], |(_, errors)| *errors);
        let [deep, apart, dual_deep, dual_apart] = published.map(throws);
        let of_both = |f: fn(&Worst) -> f64| f(&worst[0]).max(f(&worst[1]));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {a}-{b} | {deep} | {} | {apart} | {} | {dual_deep} / {dual_apart} | {} | {} |",
            cell(worst[0].value, VALUE),
            cell(worst[1].value, VALUE),
            cell(of_both(|w| w.dual), VALUE),
            cell(of_both(|w| w.derivative), DERIVATIVE),
        );
    }
    text += "\n## Other distances and sizes\n\n\
             Errors of values, `f64` and AutoDiff: in metres for shapes of 0.2 m, divided by the distance at 1\n\
             km, and divided by the larger extent for other sizes. Shapes of 1:10^4 have one or two extents that\n\
             are 1e-4 of the others (spheres and half spaces do not). \"Certificate\" is the largest difference\n\
             between the margin of the normal, the distance, and the distance between the witness points, over\n\
             all settings and in the same units. \"Derivatives\" is the worst over all settings except 1:10^4 and\n\
             1e-9 m apart, where rounding the poses turns the true normal by more than the promise.\n\n| pair |";
    for setting in &SETTINGS[2..] {
        let _ = write!(text, " {} |", setting.name);
    }
    text += " certificate | derivatives |\n|---|";
    text += &"---|".repeat(SETTINGS.len());
    text += "\n";
    for ([a, b], worst) in rows {
        let _ = write!(text, "| {a}-{b} |");
        for w in &worst[2..] {
            let measured = if w.count == 0 {
                "none".into()
            } else {
                cell(w.value.max(w.dual), VALUE)
            };
            let _ = write!(text, " {measured} |");
        }
        let of_all = |f: fn(&Worst) -> f64| worst.iter().map(f).fold(0.0, f64::max);
        let _ = writeln!(
            text,
            " {} | {} |",
            cell(of_all(|w| w.certificate), VALUE),
            cell(of_all(|w| w.derivative), DERIVATIVE),
        );
    }
    let few = rows.iter().flat_map(|(pair, worst)| {
        let few = SETTINGS.iter().zip(worst).filter(|(_, w)| w.count < count);
        few.map(move |(s, w)| format!("{}-{} {} ({})", pair[0], pair[1], s.name, w.count))
    });
    let few: Vec<String> = few.collect();
    if !few.is_empty() {
        let _ = writeln!(
            text,
            "\nFewer configurations, because another direction was shallower: {}.",
            few.join(", ")
        );
    }
    (text, kept)
}
