//! Receives arbitrary bytes from a page. They become messages or are refused, in bounded memory.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tarragon_visualization::fuzzing::receive(bytes));
