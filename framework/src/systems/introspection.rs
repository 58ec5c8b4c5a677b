//! Looking at diagrams and contexts: Graphviz and plain text.

use super::context::Context;
use super::diagram::Diagram;
use super::plan::Feed;
use crate::Scalar;
use petgraph::dot::{Config, Dot};
use petgraph::graph::DiGraph;
use std::fmt::Write as _;

impl<T: Scalar> Diagram<T> {
    /// The diagram in Graphviz's language: one node per system, one edge per connection, labelled
    /// with the names of its ports. `dot -Tsvg` draws it.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::primitives::{ConstantVectorSource, Gain};
    /// let mut b = DiagramBuilder::new();
    /// let two = b.add("two", ConstantVectorSource::new([2.0]));
    /// let gain = b.add("gain", Gain::new(3.0, 1));
    /// b.connect(two.y, gain.u);
    /// let dot = b.build()?.graphviz();
    /// assert!(dot.contains("label = \"two\"") && dot.contains("label = \"y0 -> u\""));
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn graphviz(&self) -> String {
        let plan = self.plan();
        let mut graph = DiGraph::<(), String>::new();
        let nodes: Vec<_> = plan.leaves.iter().map(|_| graph.add_node(())).collect();
        for (to, (leaf, node)) in plan.leaves.iter().zip(&plan.nodes).enumerate() {
            for (i, input) in leaf.inputs.iter().enumerate() {
                if let Feed::Slot(slot) = plan.feeds[node.input0 + i] {
                    let from = plan.system_of(slot as usize);
                    let output = &plan.entry(slot as usize).name;
                    let label = format!("{output} -> {}", input.name);
                    graph.add_edge(nodes[from], nodes[to], label);
                }
            }
        }
        let quote = |text: &str| format!("label = \"{}\"", text.replace(['"', '\\'], "_"));
        let edge = |_: &_, e: petgraph::graph::EdgeReference<'_, String>| quote(e.weight());
        let node = |_: &_, (index, ()): (petgraph::graph::NodeIndex, &())| {
            format!("shape = box, {}", quote(&plan.leaves[index.index()].path))
        };
        let config = [Config::NodeNoLabel, Config::EdgeNoLabel];
        let dot = Dot::with_attr_getters(&graph, &config, &edge, &node);
        format!("{dot:?}")
    }
}

impl<T: Scalar> Context<T> {
    /// Time and state of every system that has state, one line each, for people to read.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::primitives::ZeroOrderHold;
    /// let mut b = DiagramBuilder::new();
    /// b.add("hold", ZeroOrderHold::new(0.1, 0.0, 2));
    /// let text = b.build()?.default_context().to_text();
    /// assert_eq!(text, "time: 0\nhold: discrete state 0: [0.0, 0.0]\n");
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn to_text(&self) -> String {
        let mut text = format!("time: {}\n", self.time());
        let values = |x: &[T]| -> Vec<f64> { x.iter().map(|x| x.re()).collect() };
        for (leaf, node) in self.plan.leaves.iter().zip(&self.plan.nodes) {
            let mut line = |what: &str, x: &[T]| {
                let written = writeln!(text, "{}: {what}: {:?}", leaf.path, values(x));
                written.expect("writing to a string does not fail");
            };
            if !node.xc.is_empty() {
                line("continuous state", &self.data.xc[node.xc.clone()]);
            }
            for (i, group) in node.xd.iter().enumerate() {
                line(&format!("discrete state {i}"), &self.data.xd[group.clone()]);
            }
        }
        text
    }
}
