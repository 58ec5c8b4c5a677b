//! The flat plan that a diagram is compiled into.
//!
//! Every computation of every leaf is a *slot*. Everything else that a computation can read is a
//! *source* (time, a group of state, a parameter, a free input). `Plan::new` expands composite
//! dependencies once; each source then knows all slots downstream of it. Evaluation and
//! invalidation are array look-ups: no trackers, no recursion over subsystems, no hashing.

use super::cache::{Cache, Lists, Mask};
use super::context::StateCopy;
use super::dependency::Dep;
use super::event_table::EventTable;
use super::exports::Port;
use super::feeds::Feeds;
use super::handles::{Place, PlanId};
use super::leaf::{CalcFn, ContinuousSizes, Entry, Leaf};
use crate::{Error, Result, Scalar};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

/// Index of the source "time".
pub(crate) const TIME: usize = 0;
/// Index of the source "accuracy setting".
pub(crate) const ACCURACY: usize = 1;

/// A connection: (system, entry) to (system, input).
#[derive(Clone, Copy)]
pub(crate) struct Wire {
    pub(crate) from: (u32, u32),
    pub(crate) to: (u32, u32),
}

/// Source of an input port's value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feed {
    /// A fixed value, if there is one: that of this input port, counted over all leaves. The number
    /// of another port if both form one input of the diagram.
    Fixed(u32),
    /// A slot upstream.
    Slot(u32),
}

/// Offsets of one leaf in the flat arrays, and the indices of its sources.
pub(crate) struct Node {
    pub(crate) slot0: usize,
    pub(crate) input0: usize,
    pub(crate) xa0: usize,
    pub(crate) parameter0: usize,
    pub(crate) xc: Range<usize>,
    pub(crate) continuous: ContinuousSizes,
    /// Ranges in the flat array of discrete state, one per group.
    pub(crate) xd: Vec<Range<usize>>,
    source0: usize,
    n_xd: usize,
    n_xa: usize,
    n_parameters: usize,
    n_inputs: usize,
}

impl Node {
    /// Returns the range of all discrete state.
    pub(crate) fn xd(&self) -> Range<usize> {
        match (self.xd.first(), self.xd.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }
    /// Returns the sources of the continuous state. Order of all sources: q, v, z, discrete groups,
    /// abstract entries, parameters, inputs.
    pub(crate) fn source_xc(&self) -> Range<usize> {
        self.source0..self.source0 + 3
    }
    pub(crate) fn source_xd(&self, i: usize) -> usize {
        self.source0 + 3 + i
    }
    pub(crate) fn source_xa(&self, i: usize) -> usize {
        self.source_xd(self.n_xd) + i
    }
    /// Returns the sources of all state: continuous, discrete, abstract.
    pub(crate) fn source_state(&self) -> Range<usize> {
        self.source0..self.source_parameter(0)
    }
    /// Returns the indices of the parameters in the context.
    pub(crate) fn parameters(&self) -> Range<usize> {
        self.parameter0..self.parameter0 + self.n_parameters
    }
    /// Returns the indices of the abstract state in the context.
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

    /// Appends the sources that a dependency expands to; a dependency on an entry has none.
    fn sources(&self, dep: Dep, out: &mut Vec<u32>) {
        let mut add = |sources: Range<usize>| out.extend(sources.map(|s| s as u32));
        let one = |source: usize| source..source + 1;
        let [q, v, z] = [0, 1, 2].map(|part| one(self.source0 + part));
        let xd = self.source_xd(0)..self.source_xd(self.n_xd);
        let xa = self.source_xa(0)..self.source_xa(self.n_xa);
        let parameters = self.source_parameter(0)..self.source_parameter(self.n_parameters);
        match dep {
            Dep::Nothing | Dep::Entry(_) => {}
            Dep::Time => add(one(TIME)),
            Dep::Accuracy => add(one(ACCURACY)),
            Dep::Q => add(q),
            Dep::V => add(v),
            Dep::Z => add(z),
            Dep::Xc => add(self.source_xc()),
            Dep::Xd => add(xd),
            Dep::Xa => add(xa),
            Dep::X => add(self.source_state()),
            Dep::AllParameters => add(parameters),
            Dep::AllInputs => add(self.source_input(0)..self.source_end()),
            Dep::Configuration => [q, z, xd, xa, parameters].into_iter().for_each(add),
            Dep::Kinematics => [self.source_state(), parameters].into_iter().for_each(add),
            Dep::AllSources => {
                [one(TIME), one(ACCURACY), self.source0..self.source_end()]
                    .into_iter()
                    .for_each(add);
            }
            Dep::DiscreteGroup(p) => add(one(self.source_xd(p.index as usize))),
            Dep::AbstractEntry(p) => add(one(self.source_xa(p.index as usize))),
            Dep::Parameter(p) => add(one(self.source_parameter(p.index as usize))),
            Dep::Input(p) => add(one(self.source_input(p.index as usize))),
        }
    }
}

/// The computation that fills a slot.
pub(crate) struct Computation<T: Scalar> {
    pub(crate) system: u32,
    pub(crate) calc: CalcFn<T>,
}

/// A system with continuous state.
pub(crate) struct Continuous {
    /// The slot of its time derivatives.
    pub(crate) slot: usize,
    /// Ranges of its state, positions and velocities in the diagram's continuous state.
    pub(crate) xc: Range<usize>,
    pub(crate) q: Range<usize>,
    pub(crate) v: Range<usize>,
}

/// A compiled diagram. Structure only; values are in contexts.
pub(crate) struct Plan<T: Scalar> {
    pub(crate) id: PlanId,
    pub(crate) leaves: Vec<Leaf<T>>,
    pub(crate) nodes: Vec<Node>,
    /// Systems with continuous state, in order.
    pub(crate) continuous: Vec<Continuous>,
    /// Per input port, over all leaves.
    pub(crate) feeds: Vec<Feed>,
    /// Per input port: the representative of all ports that form one input of the diagram.
    pub(super) stand_ins: Vec<u32>,
    /// Number of elements, valid at the index of a stand-in.
    input_sizes: Vec<Option<usize>>,
    /// Computations, indexed by slot.
    pub(crate) computations: Vec<Computation<T>>,
    pub(crate) events: EventTable,
    /// Slots that each slot reads.
    pub(crate) prerequisites: Lists,
    /// Slots that read each slot.
    pub(crate) slot_to_slots: Lists,
    source_to_slots: Lists,
    /// Everything downstream of time and of all continuous state: invalidated together by the
    /// integrator.
    mask_time_xc: OnceLock<Mask>,
    /// Declared sources of each slot, in ascending order.
    pub(crate) declared: Lists,
}

impl<T: Scalar> Plan<T> {
    pub(crate) fn new(
        id: PlanId,
        mut leaves: Vec<Leaf<T>>,
        wires: &[Wire],
        shared: &[(Port, Port)],
    ) -> Result<Self> {
        for leaf in &leaves {
            if let Some(mistake) = &leaf.mistake {
                return Err(Error::invalid(format!("system '{}': {mistake}", leaf.path)));
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
            events: EventTable::new(&leaves),
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

    /// Returns the number of elements of an input port, if it or a port joined with it declares it.
    pub(crate) fn input_size(&self, system: usize, index: usize) -> Option<usize> {
        let port = self.nodes[system].input0 + index;
        self.input_sizes[self.stand_ins[port] as usize]
    }

    /// Returns the source of an input port, counted over all leaves.
    pub(crate) fn source_of_input(&self, input: usize) -> u32 {
        let system = self.nodes.partition_point(|n| n.input0 <= input) - 1;
        let node = &self.nodes[system];
        node.source_input(input - node.input0) as u32
    }

    /// Returns the feed behind a source, if the source is an input port of `node`.
    fn feed_of_source(&self, node: &Node, source: usize) -> Option<Feed> {
        let inputs = node.source_input(0)..node.source_end();
        let input = source.checked_sub(inputs.start)?;
        inputs
            .contains(&source)
            .then(|| self.feeds[node.input0 + input])
    }

    /// Returns the slots that read a source.
    #[inline]
    pub(crate) fn readers(&self, source: usize) -> &[u32] {
        self.source_to_slots.of(source)
    }

    /// Returns everything downstream of time or of any continuous state.
    pub(crate) fn mask_time_xc(&self) -> &Mask {
        self.mask_time_xc.get_or_init(|| {
            let xc = self.nodes.iter().filter(|n| !n.xc.is_empty());
            self.downstream(std::iter::once(TIME).chain(xc.flat_map(Node::source_xc)))
        })
    }

    /// Returns everything downstream of the given sources.
    pub(crate) fn downstream(&self, sources: impl Iterator<Item = usize>) -> Mask {
        // The cost depends on what is downstream, not on the size of the diagram.
        let mut hit = BTreeSet::new();
        let mut todo = vec![];
        for source in sources {
            todo.extend_from_slice(self.readers(source));
            while let Some(slot) = todo.pop() {
                if hit.insert(slot) {
                    todo.extend_from_slice(self.slot_to_slots.of(slot as usize));
                }
            }
        }
        Mask::new(hit.into_iter())
    }

    /// Returns the declared initial values of all state.
    pub(crate) fn default_state(&self) -> StateCopy<T> {
        let leaves = || self.leaves.iter();
        StateCopy {
            xc: leaves().flat_map(|l| l.xc0.iter().copied()).collect(),
            xd: leaves().flat_map(|l| l.xd0.concat()).collect(),
            xa: leaves().flat_map(|l| &l.xa0).map(|x0| x0()).collect(),
        }
    }

    pub(crate) fn new_cache(&self) -> Cache<T> {
        let entries = self.leaves.iter().flat_map(|leaf| &leaf.entries);
        Cache::new(entries.map(|entry| (entry.model)()))
    }

    /// Returns the system that a slot belongs to.
    pub(crate) fn system_of(&self, slot: usize) -> usize {
        self.computations[slot].system as usize
    }

    pub(crate) fn entry(&self, slot: usize) -> &Entry<T> {
        let system = self.system_of(slot);
        &self.leaves[system].entries[slot - self.nodes[system].slot0]
    }

    /// Returns `path.name` of a computation.
    pub(crate) fn slot_name(&self, slot: usize) -> String {
        let path = &self.leaves[self.system_of(slot)].path;
        format!("{path}.{}", self.entry(slot).name)
    }

    /// Returns `path.name` of an input port.
    pub(crate) fn input_name(&self, system: usize, input: usize) -> String {
        let leaf = &self.leaves[system];
        format!("{}.{}", leaf.path, leaf.inputs[input].name)
    }

    /// Describes a source of a system, for messages.
    pub(crate) fn describe_source(&self, system: usize, source: usize) -> String {
        let node = &self.nodes[system];
        let parts = [
            ("continuous positions q", node.source0, 1),
            ("continuous velocities v", node.source0 + 1, 1),
            ("continuous state z", node.source0 + 2, 1),
            ("discrete state", node.source_xd(0), node.n_xd),
            ("abstract state", node.source_xa(0), node.n_xa),
            ("parameter", node.source_parameter(0), node.n_parameters),
        ];
        let part = parts
            .iter()
            .find(|(_, first, n)| (*first..first + n).contains(&source));
        match part {
            _ if source == TIME => "the time".into(),
            _ if source == ACCURACY => "the accuracy".into(),
            Some((what, _, 1)) => format!("the {what}"),
            Some((what, first, _)) => format!("{what} {}", source - first),
            None => {
                let input = &self.leaves[system].inputs[source - node.source_input(0)];
                format!("input port '{}'", input.name)
            }
        }
    }

    /// Returns true if a computation declared the source, or declared to read the other
    /// computation.
    pub(crate) fn is_declared(
        &self,
        slot: usize,
        source: Option<usize>,
        other: Option<usize>,
    ) -> bool {
        let in_list = |list: &[u32], x: usize| list.binary_search(&(x as u32)).is_ok();
        source.is_some_and(|s| in_list(self.declared.of(slot), s))
            || other.is_some_and(|o| in_list(self.prerequisites.of(slot), o))
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
