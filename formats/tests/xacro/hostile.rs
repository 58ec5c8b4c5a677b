//! Damaged xacro files: errors, never a panic or an endless expansion.

use super::{files, load_with};
use crate::support::edits::{edited, edits};
use proptest::prelude::*;

/// Our own files, without those that include others.
fn texts() -> Vec<String> {
    let names = [
        "macros",
        "properties",
        "expressions",
        "blocks",
        "scopes",
        "arguments",
    ];
    let read = |name| std::fs::read_to_string(files().join(format!("{name}.xacro"))).unwrap();
    names.map(read).to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]
    #[test]
    fn damaged_files_do_not_panic(which in 0..6_usize, edits in edits(4000)) {
        let bytes = edited(&texts()[which], edits);
        let text = String::from_utf8_lossy(&bytes);
        // Files of this machine are not part of the test.
        if !text.contains("include") && !text.contains("yaml") {
            let _ = load_with(|parser| parser.add_models_from_string(&text, "xacro"));
        }
    }
}
