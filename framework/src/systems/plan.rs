//! The flat plan that a diagram is compiled into, and the declarations of its leaves.
//!
//! Every computation of every leaf is a *slot*. Everything else that a computation can read is a
//! *source* (time, a group of state, a parameter, a free input). `compile` expands composite
//! dependencies once; each source then knows all slots downstream of it. Evaluation and
//! invalidation are array look-ups: no trackers, no recursion over subsystems, no hashing.
//!
//! These types refer to each other, so they share a module: a plan holds calc functions, a calc
//! function takes a [`LeafContext`], and a leaf context refers to the plan. Their behaviour is
//! elsewhere: `declare` and `compile` build them, `evaluate` runs them.

use super::data::{Data, StateCopy};
use super::dependency::Dep;
use super::elements::Vectorial;
use super::event::{
    DiscreteUpdate, EventStatus, ParameterUpdate, StateUpdate, Trigger, WitnessDirection,
};
use super::event_table::{EventSet, EventTable};
use super::files::FileNames;
use super::handles::PlanId;
use super::storage::{Cache, Lists, Mask};
use super::value::Stored;
use crate::random::RandomGenerator;
use crate::{Error, Result, Scalar};
use std::any::TypeId;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

pub(crate) type PublishFn<T> =
    Box<dyn Fn(&LeafContext<'_, T>) -> Result<EventStatus> + Send + Sync>;

pub(crate) type DiscreteFn<T> = Box<
    dyn Fn(&LeafContext<'_, T>, &mut DiscreteUpdate<'_, T>) -> Result<EventStatus> + Send + Sync,
>;

pub(crate) type UnrestrictedFn<T> =
    Box<dyn Fn(&LeafContext<'_, T>, &mut StateUpdate<'_, T>) -> Result<EventStatus> + Send + Sync>;

pub(crate) type TimeFn<T> = Box<dyn Fn(&LeafContext<'_, T>) -> Result<f64> + Send + Sync>;

pub(crate) type WitnessFn<T> = Box<dyn Fn(&LeafContext<'_, T>) -> Result<T> + Send + Sync>;

pub(crate) type RandomStateFn<T> = Box<
    dyn Fn(&LeafContext<'_, T>, &mut RandomGenerator, &mut StateUpdate<'_, T>) -> Result<()>
        + Send
        + Sync,
>;

pub(crate) type RandomParametersFn<T> =
    Box<dyn Fn(&mut RandomGenerator, &mut ParameterUpdate<'_, T>) -> Result<()> + Send + Sync>;

/// A declared witness function.
pub(crate) struct Witness<T: Scalar> {
    pub(crate) name: String,
    pub(crate) direction: WitnessDirection,
    pub(crate) value: WitnessFn<T>,
}

pub(crate) enum Handler<T: Scalar> {
    Publish(PublishFn<T>),
    Discrete(DiscreteFn<T>),
    Unrestricted(UnrestrictedFn<T>),
}

pub(crate) type CalcFn<T> =
    Box<dyn Fn(&LeafContext<'_, T>, &mut Stored<T>) -> Result<()> + Send + Sync>;

/// Factory of a default value.
pub(crate) type Model<T> = Box<dyn Fn() -> Stored<T> + Send + Sync>;

/// Map from velocities to position rates or back; the two lengths may differ.
pub(crate) type MapFn<T> =
    Box<dyn Fn(&LeafContext<'_, T>, &[T], &mut [T]) -> Result<()> + Send + Sync>;

/// Maps between velocities v and position rates qdot, in both directions.
pub(crate) struct VelocityMap<T: Scalar> {
    pub(crate) v_to_qdot: MapFn<T>,
    pub(crate) qdot_to_v: MapFn<T>,
}

/// A declared computation: an output port, a cache entry or the time derivatives.
pub(crate) struct Entry<T: Scalar> {
    pub(crate) name: String,
    pub(crate) is_output: bool,
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) size: Option<usize>,
    pub(crate) deps: Vec<Dep>,
    pub(crate) model: Model<T>,
}

/// A declared input port.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) size: Option<usize>,
}

/// A declared parameter.
pub(crate) struct Parameter<T: Scalar> {
    pub(crate) model: Model<T>,
    /// True if the value belongs to its context (a log, a counter) and is not copied to others.
    pub(crate) per_context: bool,
}

/// Continuous state, in this order: positions q, velocities v, miscellaneous z.
#[derive(Clone, Copy, Default)]
pub(crate) struct ContinuousSizes {
    pub(crate) q: usize,
    pub(crate) v: usize,
    pub(crate) z: usize,
}

/// All declarations of a leaf, type-erased. Structure only.
pub(crate) struct Leaf<T: Scalar> {
    pub(crate) path: String,
    pub(crate) inputs: Vec<Input>,
    pub(crate) entries: Vec<Entry<T>>,
    /// Calc functions of the entries; they move to the plan.
    pub(crate) calcs: Vec<CalcFn<T>>,
    pub(crate) continuous: ContinuousSizes,
    pub(crate) xc0: Vec<T>,
    pub(crate) derivatives: Option<u32>,
    /// `None` if qdot = v.
    pub(crate) velocity_map: Option<VelocityMap<T>>,
    pub(crate) xd0: Vec<Vec<T>>,
    pub(crate) xa0: Vec<Model<T>>,
    pub(crate) parameters: Vec<Parameter<T>>,
    pub(crate) events: Vec<(Trigger, Handler<T>)>,
    pub(crate) element_names: Vec<(Vectorial, Vec<String>)>,
    /// For each declared timed event, the function that returns its next time (s).
    pub(crate) timed: Vec<TimeFn<T>>,
    pub(crate) witnesses: Vec<Witness<T>>,
    pub(crate) random_state: Option<RandomStateFn<T>>,
    pub(crate) random_parameters: Option<RandomParametersFn<T>>,
    pub(crate) files: Vec<FileNames>,
    /// First mistake in the declaration, reported by `build`.
    pub(crate) mistake: Option<Error>,
}

impl<T: Scalar> Leaf<T> {
    /// Returns the number of elements, if the declaration fixes it.
    pub(crate) fn size_of(&self, what: Vectorial) -> Option<usize> {
        match what {
            Vectorial::Input(i) => self.inputs[i as usize].size,
            Vectorial::Output(i) => self.entries[i as usize].size,
            Vectorial::Continuous => Some(self.xc0.len()),
            Vectorial::Discrete(i) => Some(self.xd0[i as usize].len()),
        }
    }

    /// Returns the names of the elements; empty if none were given.
    pub(crate) fn names_of(&self, what: Vectorial) -> &[String] {
        let mut named = self.element_names.iter();
        named.find(|n| n.0 == what).map_or(&[], |n| &n.1)
    }
}

/// Index of the source "time".
pub(crate) const TIME: usize = 0;

/// Index of the source "accuracy setting".
pub(crate) const ACCURACY: usize = 1;

/// A port of a leaf: `(system, index of the port)`.
pub(crate) type PortIndex = (u32, u32);

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
    pub(crate) source0: usize,
    pub(crate) n_xd: usize,
    pub(crate) n_xa: usize,
    pub(crate) n_parameters: usize,
    pub(crate) n_inputs: usize,
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
    pub(crate) fn source_end(&self) -> usize {
        self.source_input(self.n_inputs)
    }

    /// Appends the sources that a dependency expands to; a dependency on an entry has none.
    pub(crate) fn sources(&self, dep: Dep, out: &mut Vec<u32>) {
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
            Dep::Xc | Dep::ContinuousState(_) => add(self.source_xc()),
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
    pub(crate) stand_ins: Vec<u32>,
    /// Number of elements, valid at the index of a stand-in.
    pub(crate) input_sizes: Vec<Option<usize>>,
    /// Computations, indexed by slot.
    pub(crate) computations: Vec<Computation<T>>,
    pub(crate) events: EventTable,
    /// Slots that each slot reads.
    pub(crate) prerequisites: Lists,
    /// Slots that read each slot.
    pub(crate) slot_to_slots: Lists,
    pub(crate) source_to_slots: Lists,
    /// Everything downstream of time and of all continuous state: invalidated together by the
    /// integrator.
    pub(crate) mask_time_xc: OnceLock<Mask>,
    /// Declared sources of each slot, in ascending order.
    pub(crate) declared: Lists,
}

impl<T: Scalar> Plan<T> {
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
    pub(crate) fn feed_of_source(&self, node: &Node, source: usize) -> Option<Feed> {
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

/// Read-only view of a context for calc functions and event handlers of one leaf.
///
/// ```
/// use tarragon_framework::prelude::*;
///
/// /// y = x + u, or x if u is not connected.
/// struct Offset;
/// impl<T: Scalar> LeafSystem<T> for Offset {
///     type Ports = OutputPort<Vec<T>>;
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let (u, x) = (d.vector_input("u", 1), d.discrete_state(&[T::from(3.0)]));
///         d.vector_output("y", 1, (u, x), move |_, ctx, y| {
///             let u = ctx.eval_optional(u)?.map_or(T::zero(), |u| u[0]);
///             Ok(y[0] = ctx.xd(x)[0] + u)
///         })
///     }
/// }
///
/// let mut b = DiagramBuilder::new();
/// let offset = b.add("offset", Offset);
/// let ctx = b.build()?.default_context();
/// assert_eq!(ctx.eval(*offset.ports())?, &[3.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct LeafContext<'a, T: Scalar> {
    pub(crate) plan: &'a Plan<T>,
    pub(crate) data: &'a Data<T>,
    pub(crate) node: &'a Node,
    pub(crate) plan_id: PlanId,
    pub(crate) system: u32,
    /// The computation in progress, if its reads are checked.
    pub(crate) checked_slot: Option<u32>,
}

impl<'a, T: Scalar> LeafContext<'a, T> {
    #[inline]
    pub(crate) fn of(plan: &'a Plan<T>, data: &'a Data<T>, system: usize) -> Self {
        Self {
            plan,
            data,
            node: &plan.nodes[system],
            plan_id: plan.id,
            system: system as u32,
            checked_slot: None,
        }
    }
}

impl<T: Scalar> Plan<T> {
    /// Returns the ranges of the discrete state of the systems with discrete updates.
    pub(crate) fn xd_of<'a>(&self, set: &'a EventSet) -> &'a [Range<usize>] {
        set.xd.get_or_init(|| {
            let mut ranges: Vec<Range<usize>> = vec![];
            for &(system, _) in &set.discrete {
                let groups = &self.nodes[system as usize].xd;
                let (Some(first), Some(last)) = (groups.first(), groups.last()) else {
                    continue;
                };
                match ranges.last_mut() {
                    Some(r) if first.start <= r.end => r.end = r.end.max(last.end),
                    _ => ranges.push(first.start..last.end),
                }
            }
            ranges
        })
    }

    /// Returns the mask of everything downstream of the updated discrete state.
    pub(crate) fn mask_of<'a>(&self, set: &'a EventSet) -> &'a Mask {
        set.mask.get_or_init(|| {
            let nodes = set.discrete.iter().map(|e| &self.nodes[e.0 as usize]);
            self.downstream(nodes.flat_map(|n| (0..n.xd.len()).map(|i| n.source_xd(i))))
        })
    }
}
