//! Contexts as human-readable text.

use super::Context;
use crate::Scalar;
use crate::systems::elements::Vectorial;

impl<T: Scalar> Context<T> {
    /// Formats time and the state, numeric parameters and fixed inputs of every system as a
    /// human-readable tree: sub-diagrams contain systems, and systems contain values.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::primitives::{Gain, ZeroOrderHold};
    /// let mut b = DiagramBuilder::new();
    /// b.subdiagram("arm", |b| {
    ///     b.add("hold", ZeroOrderHold::new(2, 0.1, 0.0));
    ///     b.add("gain", Gain::new(1, 2.0));
    ///     Ok::<_, tarragon_framework::Error>(())
    /// })?;
    /// let text = b.build()?.default_context().to_text();
    /// assert_eq!(
    ///     text,
    ///     "time: 0 s\narm\n  hold\n    discrete state 0: [0.0, 0.0]\n  gain\n    \
    ///      parameter 0: [2.0]\n"
    /// );
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn to_text(&self) -> String {
        let mut tree = Tree::new(format!("time: {} s\n", self.time()));
        for (leaf, node) in self.plan.leaves.iter().zip(&self.plan.nodes) {
            tree.enter(&leaf.path);
            let named = |what| leaf.names_of(what);
            if !node.xc.is_empty() {
                let x = &self.data.xc[node.xc.clone()];
                tree.line("continuous state", named(Vectorial::Continuous), x);
            }
            for (i, group) in node.xd.iter().enumerate() {
                let (what, x) = (Vectorial::Discrete(i as u32), &self.data.xd[group.clone()]);
                tree.line(&format!("discrete state {i}"), named(what), x);
            }
            for (i, _) in node.xa().enumerate() {
                tree.other(&format!("abstract state {i}"));
            }
            for (i, value) in self.data.parameters[node.parameters()].iter().enumerate() {
                match value.numbers() {
                    Some(x) => tree.line(&format!("parameter {i}"), &[], x),
                    None => tree.other(&format!("parameter {i}")),
                }
            }
            for (i, input) in leaf.inputs.iter().enumerate() {
                let Some(value) = &self.data.fixed[node.input0 + i] else {
                    continue;
                };
                let title = format!("input {}, fixed", input.name);
                match value.numbers() {
                    Some(x) => tree.line(&title, named(Vectorial::Input(i as u32)), x),
                    None => tree.other(&title),
                }
            }
        }
        tree.text
    }
}

/// Indented text whose headings are written only once something appears under them.
struct Tree {
    text: String,
    /// Headings above the current line; the first `written` of them are in the text.
    path: Vec<String>,
    written: usize,
}

impl Tree {
    fn new(text: String) -> Self {
        let (path, written) = (vec![], 0);
        Self {
            text,
            path,
            written,
        }
    }

    fn enter(&mut self, path: &str) {
        let path: Vec<String> = path.split("::").map(String::from).collect();
        let same = self.path.iter().zip(&path).take_while(|(a, b)| a == b);
        self.written = self.written.min(same.count());
        self.path = path;
    }

    fn add(&mut self, line: &str) {
        for depth in self.written..self.path.len() {
            self.text += &format!("{}{}\n", "  ".repeat(depth), self.path[depth]);
        }
        self.written = self.path.len();
        self.text += &format!("{}{line}\n", "  ".repeat(self.written));
    }

    fn line<T: Scalar>(&mut self, title: &str, names: &[String], x: &[T]) {
        let values: Vec<f64> = x.iter().map(|x| x.re()).collect();
        if names.len() == values.len() && !names.is_empty() {
            let pairs = names.iter().zip(values);
            let pairs: Vec<String> = pairs.map(|(name, x)| format!("{name} = {x:?}")).collect();
            self.add(&format!("{title}: {}", pairs.join(", ")));
        } else {
            self.add(&format!("{title}: {values:?}"));
        }
    }

    /// Adds a value that cannot be written as numbers.
    fn other(&mut self, title: &str) {
        self.add(&format!("{title}: (not of numbers)"));
    }
}
