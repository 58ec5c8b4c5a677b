//! After a warm-up, a discrete step allocates the same small number of times, whatever the number
//! of bodies and contacts.

use crate::counting_allocator::ALLOCATIONS;
use crate::dynamics::discrete::{ALL, BallWorld};
use nalgebra::Vector3;
use tarragon_framework::prelude::*;

#[test]
fn steps_allocate_as_often_for_many_bodies_as_for_few() {
    for approximation in ALL {
        let count = |n: usize| {
            let world = BallWorld::new(1e-3, approximation);
            let at = |i: usize| Vector3::new(0.3 * i as f64, 0.0, 0.0999);
            let centers: Vec<_> = (0..n).map(at).collect();
            let (diagram, _) = world.build(&centers);
            let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
            sim.advance_to(0.1).unwrap();
            let before = ALLOCATIONS.get();
            sim.advance_to(0.2).unwrap();
            ALLOCATIONS.get() - before
        };
        let (few, many) = (count(5), count(40));
        assert_eq!(few, many, "{approximation:?}");
        // A hundred steps; the query returns its result in a vector.
        assert!(few <= 400, "{approximation:?}: {few}");
    }
}
