//! Receives arbitrary datagrams of several senders. They become messages, or are refused and
//! counted, in bounded memory.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tarragon_lcm::fuzzing::datagrams(bytes));
