//! Direct feedthrough and the detection of algebraic loops.

use crate::error::WiringError;
use crate::systems::dependency::Dep;
use crate::systems::plan::{Feed, Plan, PortIndex};
use crate::{Result, Scalar};
use petgraph::algo::{kosaraju_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};

impl<T: Scalar> Plan<T> {
    /// Returns true if an output depends on an input, connected or not, without a delay.
    pub(crate) fn feeds_through(&self, (system, input): PortIndex, output: PortIndex) -> bool {
        let target = (self.nodes[output.0 as usize].slot0 + output.1 as usize) as u32;
        // Ports that share an exported input count as one, connected or not.
        let asked = self.stand_ins[self.nodes[system as usize].input0 + input as usize];
        let mut todo: Vec<u32> = vec![];
        for (leaf, node) in self.leaves.iter().zip(&self.nodes) {
            for i in 0..leaf.inputs.len() {
                if self.stand_ins[node.input0 + i] == asked {
                    let source = node.source_input(i);
                    let slots = node.slot0..node.slot0 + leaf.entries.len();
                    let readers = slots.filter(|s| self.is_declared(*s, Some(source), None));
                    todo.extend(readers.map(|s| s as u32));
                }
            }
        }
        let mut seen = vec![false; self.computations.len()];
        while let Some(slot) = todo.pop() {
            if slot == target {
                return true;
            }
            if !std::mem::replace(&mut seen[slot as usize], true) {
                todo.extend_from_slice(self.slot_to_slots.of(slot as usize));
            }
        }
        false
    }

    /// Fails if a computation needs its own result.
    pub(crate) fn check_loops(&self) -> Result<()> {
        let n = self.computations.len();
        let mut graph: DiGraph<(), (), u32> = DiGraph::with_capacity(n, n);
        for _ in 0..n {
            graph.add_node(());
        }
        for slot in 0..n {
            for &upstream in self.prerequisites.of(slot) {
                graph.add_edge(NodeIndex::from(upstream), NodeIndex::from(slot as u32), ());
            }
        }
        if toposort(&graph, None).is_ok() {
            return Ok(());
        }
        let components = kosaraju_scc(&graph);
        let in_loop = |c: &&Vec<NodeIndex<u32>>| c.len() > 1 || graph.contains_edge(c[0], c[0]);
        let component = components
            .iter()
            .filter(in_loop)
            .min_by_key(|c| c.iter().min());
        let component = component.expect("a graph without topological order has a loop");
        // Walk along edges inside the component until a slot repeats.
        const OUTSIDE: usize = usize::MAX;
        let mut number = vec![OUTSIDE; n];
        for inside in component {
            number[inside.index()] = n;
        }
        let mut walk = vec![*component.iter().min().expect("components are not empty")];
        let path = loop {
            let last = walk[walk.len() - 1];
            number[last.index()] = walk.len() - 1;
            let next = graph
                .neighbors(last)
                .filter(|x| number[x.index()] != OUTSIDE)
                .min();
            let next = next.expect("every slot of a loop has a successor in it");
            if let Some(path) = walk.get(number[next.index()]..) {
                break path;
            }
            walk.push(next);
        };
        let mut text = self.slot_name(path[0].index());
        for (i, from) in path.iter().enumerate() {
            let to = path[(i + 1) % path.len()];
            text += &self.describe_edge(from.index(), to.index());
        }
        Err(WiringError::AlgebraicLoop { path: text }.into())
    }

    /// Formats ` -> input port -> computation (why it reads the input)`.
    fn describe_edge(&self, from: usize, to: usize) -> String {
        let system = self.system_of(to);
        let (leaf, node) = (&self.leaves[system], &self.nodes[system]);
        let entry = self.entry(to);
        let name = self.slot_name(to);
        let mut inputs = (0..leaf.inputs.len())
            .filter(|i| self.feeds[node.input0 + i] == Feed::Slot(from as u32))
            .filter(|i| self.is_declared(to, Some(node.source_input(*i)), None));
        let Some(input) = inputs.next() else {
            return format!(" -> {name} (declared to read {})", self.entry(from).name);
        };
        let port = self.input_name(system, input);
        let why = if entry
            .deps
            .iter()
            .any(|d| matches!(d, Dep::Input(p) if p.index == input as u32))
        {
            format!("declared to depend on {}", leaf.inputs[input].name)
        } else if entry.deps.contains(&Dep::AllInputs) {
            "declared to depend on all inputs".into()
        } else {
            "declared to depend on all sources".into()
        };
        format!(" -> {port} -> {name} ({why})")
    }
}
