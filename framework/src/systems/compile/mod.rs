//! Compilation of leaves and wires into a [`Plan`].

mod events;
mod feeds;
mod loops;

use super::dependency::Dep;
use super::handles::{Place, PlanId};
use super::plan::{ACCURACY, Computation, Continuous, Feed, Leaf, Node, Plan, PortIndex, Wire};
use super::storage::Lists;
use crate::{Result, Scalar};
use feeds::Feeds;
use std::sync::OnceLock;

impl<T: Scalar> Plan<T> {
    pub(crate) fn new(
        id: PlanId,
        mut leaves: Vec<Leaf<T>>,
        wires: &[Wire],
        shared: &[(PortIndex, PortIndex)],
    ) -> Result<Self> {
        for leaf in &leaves {
            if let Some(mistake) = &leaf.mistake {
                return Err(mistake.clone().at(format!("system '{}'", leaf.path)));
            }
        }
        let (nodes, n_sources) = lay_out(&leaves);
        let feeds = Feeds::new(&leaves, &nodes, wires, shared)?;
        let mut computations = vec![];
        for (system, leaf) in (0..).zip(&mut leaves) {
            let calcs = leaf.calcs.drain(..);
            computations.extend(calcs.map(|calc| Computation { system, calc }));
        }
        let mut plan = Self {
            id,
            feeds: feeds.feeds,
            stand_ins: feeds.stand_ins,
            input_sizes: feeds.sizes,
            computations,
            events: events::table(&leaves),
            prerequisites: Lists::default(),
            slot_to_slots: Lists::default(),
            source_to_slots: Lists::default(),
            mask_time_xc: OnceLock::new(),
            declared: Lists::default(),
            continuous: continuous(&leaves, &nodes),
            nodes,
            leaves,
        };
        plan.link(n_sources);
        plan.check_loops()?;
        Ok(plan)
    }

    /// Expands the declared dependencies of every slot.
    fn link(&mut self, n_sources: usize) {
        let n_slots = self.computations.len();
        // Pairs (slot, source), (slot, slot that it reads), (source, slot).
        let (mut declared, mut reads, mut from_sources) = (vec![], vec![], vec![]);
        let (mut sources, mut upstream) = (vec![], vec![]);
        for (leaf, node) in self.leaves.iter().zip(&self.nodes) {
            for (e, entry) in leaf.entries.iter().enumerate() {
                let slot = (node.slot0 + e) as u32;
                sources.clear();
                upstream.clear();
                for &dep in &entry.deps {
                    if let Dep::Entry(Place { index: entry, .. }) = dep {
                        upstream.push((node.slot0 + entry as usize) as u32);
                    }
                    node.sources(dep, &mut sources);
                }
                sources.sort_unstable();
                sources.dedup();
                for &source in &sources {
                    declared.push((slot, source));
                    match self.feed_of_source(node, source as usize) {
                        Some(Feed::Slot(from)) => upstream.push(from),
                        Some(Feed::Fixed(input)) => {
                            from_sources.push((self.source_of_input(input as usize), slot));
                        }
                        None => from_sources.push((source, slot)),
                    }
                }
                upstream.sort_unstable();
                upstream.dedup();
                reads.extend(upstream.iter().map(|from| (slot, *from)));
            }
        }
        let reversed: Vec<_> = reads.iter().map(|(slot, from)| (*from, *slot)).collect();
        self.slot_to_slots = Lists::new(n_slots, &reversed);
        self.prerequisites = Lists::new(n_slots, &reads);
        self.declared = Lists::new(n_slots, &declared);
        self.source_to_slots = Lists::new(n_sources, &from_sources);
    }
}

/// Gives every leaf its offsets in the flat arrays; also returns the number of sources.
fn lay_out<T: Scalar>(leaves: &[Leaf<T>]) -> (Vec<Node>, usize) {
    let (mut slot0, mut input0, mut xa0, mut parameter0) = (0, 0, 0, 0);
    let (mut xc0, mut xd0, mut source0) = (0, 0, ACCURACY + 1);
    let mut nodes = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        let mut groups = Vec::with_capacity(leaf.xd0.len());
        for group in &leaf.xd0 {
            groups.push(xd0..xd0 + group.len());
            xd0 += group.len();
        }
        let node = Node {
            slot0,
            input0,
            xa0,
            parameter0,
            xc: xc0..xc0 + leaf.xc0.len(),
            continuous: leaf.continuous,
            xd: groups,
            source0,
            n_xd: leaf.xd0.len(),
            n_xa: leaf.xa0.len(),
            n_parameters: leaf.parameters.len(),
            n_inputs: leaf.inputs.len(),
        };
        slot0 += leaf.entries.len();
        input0 += leaf.inputs.len();
        xa0 += leaf.xa0.len();
        parameter0 += leaf.parameters.len();
        xc0 = node.xc.end;
        source0 = node.source_end();
        nodes.push(node);
    }
    (nodes, source0)
}

/// Lists the systems with continuous state.
fn continuous<T: Scalar>(leaves: &[Leaf<T>], nodes: &[Node]) -> Vec<Continuous> {
    let part = |(leaf, node): (&Leaf<T>, &Node)| {
        let q = node.xc.start..node.xc.start + leaf.continuous.q;
        Some(Continuous {
            slot: node.slot0 + leaf.derivatives? as usize,
            xc: node.xc.clone(),
            v: q.end..q.end + leaf.continuous.v,
            q,
        })
    };
    leaves.iter().zip(nodes).filter_map(part).collect()
}
