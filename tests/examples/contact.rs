//! Examples with contact.

use super::{check_svg, files, read, rows, run, run_with};
use tarragon::sensors::{ImageRgba8U, load_image};

#[test]
fn falling_things_come_to_rest_on_the_table() {
    let (printed, scratch) = run_with("19_falling_things", &["0.5"]);
    let on_table = printed.lines().filter(|line| line.contains(" N, "));
    assert!(on_table.count() >= 3, "{printed}");
    assert!(printed.contains("after 0.5 s"), "{printed}");
    // Without the viewer page there is no recording, which the example tolerates.
    if printed.contains("the motion is in") {
        assert_eq!(files(&scratch, "19_falling_things"), ["falling.html"]);
    }
}

#[test]
fn gravity_compensation_reduces_the_tracking_error() {
    let (printed, _) = run("20_arm_pid_and_gravity_compensation");
    let row = |name: &str| -> Vec<f64> {
        let line = printed.lines().find(|line| line.starts_with(name)).unwrap();
        let cells = line.split('|').skip(1);
        cells.map(|cell| cell.trim().parse().unwrap()).collect()
    };
    let (without, with) = (row("PD  "), row("PD + gravity"));
    assert!(with[0] < 0.3 * without[0], "{printed}");
    assert!(without[1] > 1.0 && with[1] < 0.001, "{printed}");
}

#[test]
fn a_gripped_block_does_not_slip() {
    let (printed, scratch) = run("21_gripper_pick");
    let row = |name: &str| printed.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(row("carry").contains(" mm, "), "{printed}");
    assert!(row("rest").contains("0.0860 |       0.00"), "{printed}");
    let folder = scratch.path().join("target/21_gripper_pick");
    let image: ImageRgba8U = load_image(folder.join("carry.png")).unwrap();
    assert_eq!((image.width(), image.height()), (640, 480));
    assert!(files(&scratch, "21_gripper_pick").len() >= 9, "{printed}");
}

#[test]
fn a_throw_is_optimized_through_its_bounces() {
    let (printed, _) = run("22_gradient_through_contact");
    let misses: Vec<f64> = printed
        .lines()
        .filter_map(|line| line.split('|').nth(2)?.trim().parse().ok())
        .collect();
    assert!(misses[0] > 300.0 && misses.len() < 12, "{printed}");
    assert!(misses.last().is_some_and(|miss| *miss < 1.0), "{printed}");
}

#[test]
fn a_robot_on_two_wheels_balances() {
    let (printed, _) = run("23_balance");
    assert!(printed.starts_with("without control"), "{printed}");
    let last = printed.lines().last().unwrap();
    let tilt: f64 = last.split('|').nth(1).unwrap().trim().parse().unwrap();
    assert!(tilt.abs() < 0.05, "{printed}");
}

#[test]
fn soft_fingers_hold_a_mug() {
    let (printed, scratch) = run("24_hydroelastic_grasp");
    let rows: Vec<_> = rows(&printed).into_iter().filter(|r| r.len() > 1).collect();
    assert_eq!(
        rows.len(),
        4 * 2,
        "a row for each phase and finger: {printed}"
    );
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    for row in &rows {
        let [area, faces, pressure, grip] = [2, 3, 4, 5].map(|i| number(row[i]));
        assert!((1000.0..1500.0).contains(&area) && faces > 20.0, "{row:?}");
        // The mean pressure is below the largest.
        assert!(grip > 10.0 && grip < 1e-3 * area * pressure, "{row:?}");
    }
    // Both fingers hold the weight of 0.35 kg, whose line of action is 6.2 mm off.
    let moment: f64 = rows[6..].iter().map(|row| number(row[6])).sum();
    assert!((moment - 21.4).abs() < 1.5, "{printed}");
    // Without the viewer page there is no recording, which the example tolerates.
    if printed.contains("the motion is in") {
        assert_eq!(files(&scratch, "24_hydroelastic_grasp"), ["grasp.html"]);
    }
}

#[test]
fn forces_of_a_soft_ball_converge_to_the_closed_form() {
    let (printed, scratch) = run("25_ball_on_plate");
    let errors: Vec<[f64; 2]> = printed
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            let [_, _, inscribed, equal_volume] = cells[..] else {
                return None;
            };
            let mean = |cell: &str| cell.split_whitespace().next()?.parse::<f64>().ok();
            Some([mean(inscribed)?, mean(equal_volume)?])
        })
        .collect();
    assert_eq!(errors.len(), 5, "{printed}");
    for pair in errors.windows(2) {
        for (coarse, fine) in pair[0].iter().zip(pair[1]) {
            assert!(fine < 0.35 * coarse, "{printed}");
        }
    }
    assert!(
        errors
            .iter()
            .all(|[inscribed, equal]| equal < &(0.2 * inscribed)),
        "{printed}"
    );
    assert_eq!(printed.matches(" 4.9050 N at rest").count(), 3, "{printed}");
    let all = ["convergence.svg", "force.svg"];
    assert_eq!(files(&scratch, "25_ball_on_plate"), all);
    let picture = read(&scratch, "25_ball_on_plate/force.svg");
    check_svg(&picture, 0, &["depth (mm)", "force (N)", "closed form"]);
    let picture = read(&scratch, "25_ball_on_plate/convergence.svg");
    check_svg(&picture, 0, &["inscribed", "equal volume"]);
}

#[test]
fn soft_bodies_fall_down_the_stairs() {
    let (printed, scratch) = run_with("28_soft_ball", &["0.5"]);
    let rows = |body: &str| -> Vec<Vec<f64>> {
        let lines = printed.lines().filter(|line| line.contains(body));
        let cells = lines.map(|line| line.split('|').filter_map(|c| c.trim().parse().ok()));
        cells
            .map(Iterator::collect)
            .filter(|r: &Vec<f64>| r.len() == 5)
            .collect()
    };
    for body in ["| ball |", "| bear |"] {
        let rows = rows(body);
        assert_eq!(rows.len(), 3, "{printed}");
        // Forwards and down, and neither through the stairs nor torn.
        assert!(rows[2][1] > rows[0][1] && rows[2][2] > -0.4, "{printed}");
        assert!(
            rows.iter().all(|row| (60.0..130.0).contains(&row[3])),
            "{printed}"
        );
    }
    assert!(files(&scratch, "28_soft_ball").contains(&"bear.vtk".to_string()));
}

#[test]
fn soft_fingers_lift_a_box() {
    let (printed, scratch) = run("29_soft_gripper");
    assert!(printed.contains("the box was lifted by"), "{printed}");
    assert_eq!(printed.matches(" | left ").count(), 3, "{printed}");
    let names = files(&scratch, "29_soft_gripper");
    assert!(names.contains(&"hold_depth.tiff".to_string()), "{names:?}");
    let folder = scratch.path().join("target/29_soft_gripper");
    let image: ImageRgba8U = load_image(folder.join("hold.png")).unwrap();
    let is_orange = |x: usize, y: usize| {
        let [r, g, b] = [0, 1, 2].map(|i| u32::from(image.at(x, y)[i]));
        r > 2 * b && r > g && r > 100
    };
    let pixels = (0..640).flat_map(|x| (0..480).map(move |y| (x, y)));
    // The pads.
    assert!(pixels.filter(|(x, y)| is_orange(*x, *y)).count() > 500);
}
