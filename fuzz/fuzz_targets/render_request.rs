//! Reads arbitrary bytes as the body of a request to the render server, with the boundary `X`, and
//! then its scene. It becomes meshes or is refused, in bounded memory.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tarragon_render_server::fuzzing::request(bytes));
