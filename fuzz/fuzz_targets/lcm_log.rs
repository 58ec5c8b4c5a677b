//! Any file is read as an LCM log: events, and what is skipped between them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tarragon_lcm::fuzzing::log(bytes));
