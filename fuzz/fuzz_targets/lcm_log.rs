//! Reads arbitrary bytes as an LCM log, skipping damaged parts between events.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tarragon_lcm::fuzzing::log(bytes));
