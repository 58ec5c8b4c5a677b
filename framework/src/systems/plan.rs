//! The flat plan that a diagram is compiled to.
//!
//! Every computation of every leaf is a *slot*; everything a computation can read that is not a
//! computation is a *source* (time, a group of state, a parameter, a free input). `Plan::new` expands
//! composite dependencies once; each source then knows all slots downstream of it. Evaluation and
//! invalidation are array look-ups: no trackers, no recursion over subsystems, no hashing.

use super::cache::{Cache, Mask};
use super::dependency::Dep;
use super::event::EventTable;
use super::handles::PlanId;
use super::leaf::{Entry, Input, Leaf};
use crate::error::ErrorKind;
use crate::{Error, Result, Scalar};
use petgraph::algo::{kosaraju_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};
use std::ops::Range;
use std::sync::OnceLock;

/// Source of the time.
pub(crate) const TIME: usize = 0;
/// Source of the accuracy setting.
pub(crate) const ACCURACY: usize = 1;

/// A connection: (system, entry) to (system, input).
#[derive(Clone, Copy)]
pub(crate) struct Wire {
    pub(crate) from: (u32, u32),
    pub(crate) to: (u32, u32),
}

/// Where an input port gets its value.
#[derive(Clone, Copy)]
pub(crate) enum Feed {
    /// From a fixed value, if there is one.
    Free,
    /// From a slot upstream.
    Slot(u32),
}

/// Offsets of one leaf in the flat arrays, and the numbers of its sources.
pub(crate) struct Node {
    pub(crate) slot0: usize,
    pub(crate) input0: usize,
    pub(crate) xa0: usize,
    pub(crate) parameter0: usize,
    pub(crate) xc: Range<usize>,
    /// Ranges in the discrete arena, one per group.
    pub(crate) xd: Vec<Range<usize>>,
    source0: usize,
    n_xd: usize,
    n_xa: usize,
    n_parameters: usize,
    n_inputs: usize,
}

impl Node {
    /// Sources in order: q, v, z, discrete groups, abstract entries, parameters, inputs.
    pub(crate) fn source_xc(&self) -> Range<usize> {
        self.source0..self.source0 + 3
    }
    pub(crate) fn source_xd(&self, i: usize) -> usize {
        self.source0 + 3 + i
    }
    pub(crate) fn source_xa(&self, i: usize) -> usize {
        self.source_xd(self.n_xd) + i
    }
    /// All state: continuous, discrete, abstract.
    pub(crate) fn source_state(&self) -> Range<usize> {
        self.source0..self.source_parameter(0)
    }
    /// Numbers of the abstract state in the context.
    pub(crate) fn xa(&self) -> Range<usize> {
        self.xa0..self.xa0 + self.n_xa
    }
    pub(crate) fn source_parameter(&self, i: usize) -> usize {
        self.source_xa(self.n_xa) + i
    }
    pub(crate) fn source_input(&self, i: usize) -> usize {
        self.source_parameter(self.n_parameters) + i
    }
    fn source_end(&self) -> usize {
        self.source_input(self.n_inputs)
    }

    /// The sources that a dependency stands for; the entry dependency has none.
    fn sources(&self, dep: Dep) -> Vec<usize> {
        let at = |i| vec![i];
        let xd = || self.source_xd(0)..self.source_xd(self.n_xd);
        let xa = || self.source_xa(0)..self.source_xa(self.n_xa);
        let p = || self.source_parameter(0)..self.source_parameter(self.n_parameters);
        let (q, v, z) = (self.source0, self.source0 + 1, self.source0 + 2);
        match dep {
            Dep::Nothing | Dep::Entry(_) => vec![],
            Dep::Time => at(TIME),
            Dep::Accuracy => at(ACCURACY),
            Dep::Q => at(q),
            Dep::V => at(v),
            Dep::Z => at(z),
            Dep::Xc => self.source_xc().collect(),
            Dep::Xd => xd().collect(),
            Dep::Xa => xa().collect(),
            Dep::X => self.source_xc().chain(xd()).chain(xa()).collect(),
            Dep::AllParameters => p().collect(),
            Dep::AllInputs => (self.source_input(0)..self.source_end()).collect(),
            Dep::Configuration => [q, z]
                .into_iter()
                .chain(xd())
                .chain(xa())
                .chain(p())
                .collect(),
            Dep::Kinematics => self
                .source_xc()
                .chain(xd())
                .chain(xa())
                .chain(p())
                .collect(),
            Dep::AllSources => [TIME, ACCURACY]
                .into_iter()
                .chain(self.source0..self.source_end())
                .collect(),
            Dep::DiscreteGroup(i) => at(self.source_xd(i as usize)),
            Dep::AbstractEntry(i) => at(self.source_xa(i as usize)),
            Dep::Parameter(i) => at(self.source_parameter(i as usize)),
            Dep::Input(i) => at(self.source_input(i as usize)),
        }
    }
}

/// A compiled diagram. Structure only; values are in contexts.
pub(crate) struct Plan<T: Scalar> {
    pub(crate) id: PlanId,
    pub(crate) leaves: Vec<Leaf<T>>,
    pub(crate) nodes: Vec<Node>,
    /// Per input port, over all leaves.
    pub(crate) feeds: Vec<Feed>,
    /// Slot to (leaf, entry).
    pub(crate) slots: Vec<(u32, u32)>,
    pub(crate) events: EventTable,
    /// Slot to the slots it reads.
    pub(crate) prerequisites: Vec<Vec<u32>>,
    slot_to_slots: Vec<Vec<u32>>,
    source_to_slots: Vec<Vec<u32>>,
    masks: Vec<OnceLock<Mask>>,
    /// Downstream of time and of all continuous state: what the integrator changes in one go.
    mask_time_xc: OnceLock<Mask>,
    /// Slot to the sources it declared, for the check in debug builds.
    declared: Vec<Vec<u32>>,
}

impl<T: Scalar> Plan<T> {
    pub(crate) fn new(id: PlanId, leaves: Vec<Leaf<T>>, wires: &[Wire]) -> Result<Self> {
        for leaf in &leaves {
            if let Some(mistake) = &leaf.mistake {
                return Err(Error::invalid(format!("system '{}': {mistake}", leaf.path)));
            }
        }
        let (nodes, n_sources) = lay_out(&leaves);
        let slots: Vec<(u32, u32)> = leaves
            .iter()
            .enumerate()
            .flat_map(|(i, leaf)| (0..leaf.entries.len()).map(move |e| (i as u32, e as u32)))
            .collect();
        let feeds = feeds(&leaves, &nodes, wires)?;
        let mut plan = Self {
            id,
            feeds,
            events: EventTable::default(),
            prerequisites: vec![vec![]; slots.len()],
            slot_to_slots: vec![vec![]; slots.len()],
            source_to_slots: vec![vec![]; n_sources],
            masks: (0..n_sources).map(|_| OnceLock::new()).collect(),
            mask_time_xc: OnceLock::new(),
            declared: vec![vec![]; slots.len()],
            nodes,
            slots,
            leaves,
        };
        plan.link();
        plan.check_loops()?;
        for (i, leaf) in plan.leaves.iter().enumerate() {
            for (e, (trigger, handler)) in leaf.events.iter().enumerate() {
                plan.events.add(*trigger, handler, (i as u32, e as u32));
            }
        }
        Ok(plan)
    }

    /// Expands the declared dependencies of every slot.
    fn link(&mut self) {
        for slot in 0..self.slots.len() {
            let (i, e) = self.slots[slot];
            let node = &self.nodes[i as usize];
            let mut sources: Vec<u32> = vec![];
            let mut reads: Vec<u32> = vec![];
            for &dep in &self.leaves[i as usize].entries[e as usize].deps {
                if let Dep::Entry(entry) = dep {
                    reads.push((node.slot0 + entry as usize) as u32);
                }
                sources.extend(node.sources(dep).iter().map(|s| *s as u32));
            }
            sources.sort_unstable();
            sources.dedup();
            for &source in &sources {
                match self.feed_of_source(node, source as usize) {
                    Feed::Slot(upstream) => reads.push(upstream),
                    Feed::Free => self.source_to_slots[source as usize].push(slot as u32),
                }
            }
            reads.sort_unstable();
            reads.dedup();
            for &upstream in &reads {
                self.slot_to_slots[upstream as usize].push(slot as u32);
            }
            self.prerequisites[slot] = reads;
            self.declared[slot] = sources;
        }
    }

    /// The feed behind a source if the source is an input port of `node`.
    fn feed_of_source(&self, node: &Node, source: usize) -> Feed {
        let inputs = node.source_input(0)..node.source_end();
        if inputs.contains(&source) {
            self.feeds[node.input0 + (source - inputs.start)]
        } else {
            Feed::Free
        }
    }

    fn check_loops(&self) -> Result<()> {
        let mut graph: DiGraph<(), (), u32> =
            DiGraph::with_capacity(self.slots.len(), self.slots.len());
        for _ in &self.slots {
            graph.add_node(());
        }
        for (slot, reads) in self.prerequisites.iter().enumerate() {
            for &upstream in reads {
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
        // Walk along edges inside the component until a slot comes twice.
        let mut walk = vec![*component.iter().min().expect("components are not empty")];
        let path = loop {
            let last = walk[walk.len() - 1];
            let next = graph
                .neighbors(last)
                .filter(|n| component.contains(n))
                .min();
            let next = next.expect("every slot of a loop has a successor in it");
            if let Some(first) = walk.iter().position(|n| *n == next) {
                break &walk[first..];
            }
            walk.push(next);
        };
        let names: Vec<String> = path.iter().map(|n| self.slot_name(n.index())).collect();
        let path = format!("{} -> {}", names.join(" -> "), names[0]);
        Err(ErrorKind::AlgebraicLoop { path }.into())
    }

    /// Everything downstream of a source, found the first time that the source changes.
    #[inline]
    pub(crate) fn mask(&self, source: usize) -> &Mask {
        self.masks[source].get_or_init(|| self.downstream(std::iter::once(source)))
    }

    /// Everything downstream of time or of any continuous state.
    pub(crate) fn mask_time_xc(&self) -> &Mask {
        self.mask_time_xc.get_or_init(|| {
            let xc = self.nodes.iter().filter(|n| !n.xc.is_empty());
            self.downstream(std::iter::once(TIME).chain(xc.flat_map(Node::source_xc)))
        })
    }

    fn downstream(&self, sources: impl Iterator<Item = usize>) -> Mask {
        let mut todo: Vec<u32> = sources
            .flat_map(|s| self.source_to_slots[s].iter().copied())
            .collect();
        let mut hit = std::collections::BTreeSet::new();
        while let Some(slot) = todo.pop() {
            if hit.insert(slot) {
                todo.extend(&self.slot_to_slots[slot as usize]);
            }
        }
        Mask(hit.into_iter().collect())
    }

    pub(crate) fn new_cache(&self) -> Cache {
        Cache::new(self.slots.iter().map(|&(i, e)| {
            let entry = &self.leaves[i as usize].entries[e as usize];
            (entry.model)()
        }))
    }

    pub(crate) fn entry(&self, slot: usize) -> &Entry<T> {
        let (i, e) = self.slots[slot];
        &self.leaves[i as usize].entries[e as usize]
    }

    /// `path.name` of a computation.
    pub(crate) fn slot_name(&self, slot: usize) -> String {
        let path = &self.leaves[self.slots[slot].0 as usize].path;
        format!("{path}.{}", self.entry(slot).name)
    }

    /// `path.name` of an input port.
    pub(crate) fn input_name(&self, system: usize, input: usize) -> String {
        let leaf = &self.leaves[system];
        format!("{}.{}", leaf.path, leaf.inputs[input].name)
    }

    /// True if a computation declared the source, or reads the other computation.
    pub(crate) fn is_declared(
        &self,
        slot: usize,
        source: Option<usize>,
        other: Option<usize>,
    ) -> bool {
        source.is_some_and(|s| self.declared[slot].binary_search(&(s as u32)).is_ok())
            || other.is_some_and(|o| self.prerequisites[slot].binary_search(&(o as u32)).is_ok())
    }
}

/// Gives every leaf its place in the flat arrays; also counts the sources.
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

/// Checks every wire and tells where each input port gets its value.
fn feeds<T: Scalar>(leaves: &[Leaf<T>], nodes: &[Node], wires: &[Wire]) -> Result<Vec<Feed>> {
    let n: usize = leaves.iter().map(|l| l.inputs.len()).sum();
    let mut feeds = vec![Feed::Free; n];
    for wire in wires {
        let (from, to) = (&leaves[wire.from.0 as usize], &leaves[wire.to.0 as usize]);
        let entry = &from.entries[wire.from.1 as usize];
        let input = &to.inputs[wire.to.1 as usize];
        let feed = &mut feeds[nodes[wire.to.0 as usize].input0 + wire.to.1 as usize];
        let why = if matches!(feed, Feed::Slot(_)) {
            Some("the input is connected already; an input has one source".into())
        } else {
            mismatch(entry, input)
        };
        if let Some(why) = why {
            return Err(ErrorKind::Connection {
                from: format!("{}.{}", from.path, entry.name),
                to: format!("{}.{}", to.path, input.name),
                why,
            }
            .into());
        }
        let slot = nodes[wire.from.0 as usize].slot0 + wire.from.1 as usize;
        *feed = Feed::Slot(slot as u32);
    }
    Ok(feeds)
}

/// Why an output can not feed an input, if so.
fn mismatch<T: Scalar>(entry: &Entry<T>, input: &Input) -> Option<String> {
    if entry.type_id != input.type_id {
        let (from, to) = (entry.type_name, input.type_name);
        return Some(format!("the output carries {from}, the input takes {to}"));
    }
    match (entry.size, input.size) {
        (Some(from), Some(to)) if from != to => Some(format!(
            "the output has {from} elements, the input takes {to}"
        )),
        _ => None,
    }
}
