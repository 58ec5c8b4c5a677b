//! Rotary encoders, compared with Drake.

use std::f64::consts::FRAC_PI_2;
use tarragon_framework::prelude::*;
use tarragon_sensors::RotaryEncoders;

/// Recorded from RotaryEncoders([4, 4, 7, 100]) of pydrake 1.51.1 with the offsets 0, 0.3, -0.2,
/// 0.1.
#[test]
fn measurements_agree_with_drake() {
    let recorded = [
        (1.0, [0.0, 0.0, 0.8975979010256551, 0.8796459430051421]),
        (
            -1.0,
            [
                -FRAC_PI_2,
                -FRAC_PI_2,
                -0.8975979010256551,
                -1.1309733552923256,
            ],
        ),
        (
            FRAC_PI_2,
            [FRAC_PI_2, 0.0, 0.8975979010256551, 1.4451326206513049],
        ),
        (
            3.0,
            [FRAC_PI_2, FRAC_PI_2, 2.692793703076965, 2.8902652413026098],
        ),
        (
            -3.2,
            [
                -4.71238898038469,
                -4.71238898038469,
                -3.5903916041026203,
                -3.330088212805181,
            ],
        ),
        (
            100.0,
            [
                98.96016858807847,
                98.96016858807847,
                99.63336701384772,
                99.83981453108363,
            ],
        ),
    ];
    let mut b = DiagramBuilder::new();
    let encoders = b.add(
        "encoders",
        RotaryEncoders::with_ticks([4, 4, 7, 100]).unwrap(),
    );
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    *ctx.param_mut(encoders.calibration_offsets).unwrap() = vec![0.0, 0.3, -0.2, 0.1];
    for (angle, expected) in recorded {
        ctx.fix(encoders.u, vec![angle; 4]).unwrap();
        let found = ctx.eval(encoders.y).unwrap();
        for (found, expected) in found.iter().zip(expected) {
            // Two roundings of numbers up to 100.
            assert!(
                (found - expected).abs() < 3e-14,
                "{angle}: {found} {expected}"
            );
        }
    }
    *ctx.param_mut(encoders.calibration_offsets).unwrap() = vec![0.0];
    let message = ctx.eval(encoders.y).unwrap_err().to_string();
    assert!(
        message.contains("one calibration offset per encoder, got 1 for 4"),
        "{message}"
    );
}

#[test]
fn encoders_select_and_differentiate() {
    let mut b = DiagramBuilder::new();
    let picked = b.add("picked", RotaryEncoders::with_indices(3, [2, 0]).unwrap());
    let ticks = b.add("ticks", RotaryEncoders::new(3, [1, 1], [10, 1]).unwrap());
    let diagram = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let (picked, ticks) = (
        diagram.ports(&picked).unwrap(),
        diagram.ports(&ticks).unwrap(),
    );
    let mut ctx = diagram.default_context();
    let u: Vec<AutoDiff> = (0..3)
        .map(|i| AutoDiff::variable(1.0 + i as f64, i))
        .collect();
    ctx.fix(picked.u, u.clone()).unwrap();
    ctx.fix(ticks.u, u).unwrap();
    ctx.param_mut(picked.calibration_offsets).unwrap()[0] = AutoDiff::variable(0.5, 3);
    let y = ctx.eval(picked.y).unwrap();
    assert_eq!((y[0].re, y[0].eps[2], y[0].eps[3]), (2.5, 1.0, -1.0));
    assert_eq!((y[1].re, y[1].eps[0]), (1.0, 1.0));
    let y = ctx.eval(ticks.y).unwrap();
    assert!(
        y.iter().all(|y| y.eps == [0.0; 8]),
        "constant between ticks"
    );
    assert_eq!(y[1].re, 0.0);
    assert!(RotaryEncoders::with_indices(3, [3]).is_err());
    assert!(RotaryEncoders::new(3, [1], [1, 2]).is_err());
    assert!(RotaryEncoders::with_ticks([5, 0]).is_err());
}
