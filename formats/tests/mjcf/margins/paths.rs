//! Forces along paths from apart to overlap.

use super::{diagram, stiffness_per_mass};

const SHAPES: [&str; 6] = [
    "type='sphere' size='.1'",
    "type='box' size='.1 .08 .06'",
    "type='capsule' size='.05 .06'",
    "type='cylinder' size='.08 .06'",
    "type='ellipsoid' size='.1 .08 .06'",
    "type='mesh' mesh='wedge'",
];
/// Distance (m) from which on all act.
const OFFSET: f64 = 0.02;
const STEP: f64 = 1e-4;

/// A body on a slide along the z axis above a fixed one, both turned.
fn model(fixed: &str, moving: &str, turns: [&str; 2]) -> String {
    format!(
        "<mujoco model='m'><default><geom margin='.025' gap='.005' solimp='.9 .9'/></default>
         <asset><mesh name='wedge'
           vertex='-.1 -.1 -.05 .1 -.1 -.05 -.1 .1 -.05 .1 .1 -.05 -.1 0 .07 .1 0 .07'/></asset>
         <worldbody><geom {fixed} euler='{}'/>
           <body><joint type='slide'/><geom mass='2' {moving} euler='{}' pos='.01 .02 0'/></body>
         </worldbody></mujoco>",
        turns[0], turns[1]
    )
}

/// The force of a pair is continuous: it changes by no more than stiffness times motion from one
/// place to the next, from 0 at the margin through the first touch to an overlap.
#[test]
fn forces_do_not_jump_along_paths() {
    // The centers of mass are not those of the bodies' frames. Of three directions, the joint
    // allows one, and MuJoCo's stiffness is that of their mean.
    let stiffness = 3.0 * 2.0 * stiffness_per_mass();
    let plane = "type='plane' size='5 5 1' pos='0 0 -.1'";
    let fixed = SHAPES.into_iter().chain([plane]);
    let turns = [
        ["0 0 0", "0 0 0"],
        ["10 20 30", "-40 25 5"],
        ["0 45 0", "45 0 0"],
    ];
    for fixed in fixed {
        for (moving, turns) in SHAPES.iter().flat_map(|s| turns.map(|turns| (s, turns))) {
            let turns = [if fixed == plane { "0 0 0" } else { turns[0] }, turns[1]];
            let text = model(fixed, moving, turns);
            let (diagram, plant) = diagram(&text, 0.0);
            let port = plant.contact_results().unwrap();
            let mut context = diagram.default_context();
            let mut at = |z: f64| {
                plant.set_positions(&mut context, [z]).unwrap();
                let results = context.eval(port).unwrap();
                let found = results.point_pairs().first();
                found.map(|c| (c.contact_force.norm() / stiffness, c.point_pair.depth))
            };
            let (mut before, mut touched, mut z) = (0.0, false, 0.35);
            let case = format!("{moving} on {fixed}, turned by {turns:?}");
            // Down to an overlap of 5 mm.
            while before < OFFSET + 0.005 {
                z -= STEP;
                assert!(z > -0.3, "{case}: no overlap");
                let (force, depth) = at(z).unwrap_or((0.0, -1.0));
                // The solver of convex shapes ends at 1e-8 of their size or so.
                let jump = force - before;
                assert!(jump.abs() < STEP * (1.0 + 1e-3), "{case}: {jump} at {z}");
                if force > 0.0 {
                    assert!(
                        (force - depth - OFFSET).abs() < 1e-12,
                        "{case}: {force} {depth}"
                    );
                }
                touched |= force > 0.0 && depth < 0.0;
                before = force;
            }
            assert!(touched, "{case}");
        }
    }
}
