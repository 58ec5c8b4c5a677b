//! Diagrams in the Graphviz language.

use super::Diagram;
use crate::Scalar;
use crate::systems::plan::Feed;
use petgraph::dot::{Config, Dot};
use petgraph::graph::DiGraph;

impl<T: Scalar> Diagram<T> {
    /// Returns the diagram in the Graphviz language: one node per system and one edge per
    /// connection, labelled with the names of its ports. `dot -Tsvg` draws it.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::primitives::{ConstantVectorSource, Gain};
    /// let mut b = DiagramBuilder::new();
    /// let two = b.add("two", ConstantVectorSource::new(2.0));
    /// let gain = b.add("gain", Gain::new(1, 3.0));
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
