//! Any bytes of a page end in messages that are understood or refused, with little memory.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tarragon_visualization::fuzzing::receive(bytes));
