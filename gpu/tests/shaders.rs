//! The shaders without an adapter.

use naga::valid::{Capabilities, ValidationFlags, Validator};

#[test]
fn shaders_are_valid() {
    let source = tarragon_gpu::shader_source();
    let module = naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|e| panic!("{}", e.emit_to_string(&source)));
    // Only half floats in buffers: nothing that some adapters lack.
    let mut validator = Validator::new(
        ValidationFlags::all(),
        Capabilities::SHADER_FLOAT16_IN_FLOAT32,
    );
    validator
        .validate(&module)
        .unwrap_or_else(|e| panic!("{}", e.emit_to_string(&source)));
    let mut names: Vec<&str> = module
        .entry_points
        .iter()
        .map(|e| e.name.as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "background_fragment",
            "background_vertex",
            "mesh_fragment",
            "mesh_vertex",
            "primitive_fragment",
            "primitive_vertex"
        ]
    );
}
