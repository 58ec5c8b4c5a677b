//! For any bytes, the parser returns a working robot or an error.

use super::{ROBOT, load_file};
use crate::support::edits::{edited, edits};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Returns true if the plant is consistent after parsing, whether or not the file was accepted.
fn survives(bytes: &[u8]) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fuzz.urdf");
    std::fs::write(&file, bytes).unwrap();
    let r = load_file(&file);
    match r.result {
        Ok(_) => {
            // An accepted robot must work.
            let plant = r.ok().plant;
            let names: BTreeSet<_> = plant.bodies().map(|(_, b)| b.name()).collect();
            let q = plant.default_positions();
            let mut poses = vec![];
            plant.calc_body_poses(&q, &mut poses).unwrap();
            names.len() == poses.len()
        }
        Err(_) => r.plant.num_bodies() == 1,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn mutated_robots_do_not_panic(
        edits in edits(ROBOT.len()),
    ) {
        prop_assert!(survives(&edited(ROBOT, edits)));
    }

    #[test]
    fn changed_values_do_not_panic(which in 0..60_usize, value in prop::sample::select(vec![
        "", "0", "-1", "nan", "inf", "-inf", "1e308", "1e-308", "1 2 3", "0 0 0", "x", "base", "tip",
        "end", "world", "::", "g", "&#0;", "&lt;", "a::b", "fixed", "floating", "9999999999999999999",
    ])) {
        // Replaces the n-th attribute value. The finest compliant meshes would take seconds.
        let robot = ROBOT.replace("drake:compliant_hydroelastic", "drake:rigid_hydroelastic");
        let mut pieces: Vec<&str> = robot.split('"').collect();
        let place = (2 * which + 1) % pieces.len();
        pieces[place] = value;
        prop_assert!(survives(pieces.join("\"").as_bytes()));
    }

    #[test]
    fn random_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(survives(&bytes));
    }
}
