//! Random diagrams, and random changes of their contexts.

use super::*;

#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// Output of this system, reduced modulo the number of candidates.
    Output(usize),
    Fixed([f64; 2]),
    /// Neither connected nor fixed.
    Left,
    /// Exported input with this number.
    Shared(usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Spec {
    pub(super) kind: Kind,
    pub(super) timing: usize,
    pub(super) nested: bool,
    pub(super) sources: [Source; 2],
}

pub(super) fn value() -> impl Strategy<Value = f64> {
    -2.0..2.0_f64
}

pub(super) fn spec() -> impl Strategy<Value = Spec> {
    let source = || {
        prop_oneof![
            8 => (0..1000_usize).prop_map(Source::Output),
            3 => [value(), value()].prop_map(Source::Fixed),
            1 => Just(Source::Left),
            2 => (0..2_usize).prop_map(Source::Shared),
        ]
    };
    let kind = (0..KINDS.len()).prop_map(|i| KINDS[i]);
    (kind, 0..TIMINGS.len(), any::<bool>(), [source(), source()]).prop_map(
        |(kind, timing, nested, sources)| Spec {
            kind,
            timing,
            nested,
            sources,
        },
    )
}

/// Diagram with the test's own record of its structure.
pub(super) struct Built {
    pub(super) diagram: Diagram<f64>,
    pub(super) blocks: Vec<Block<System>>,
    /// Per system and input, the system that the input is connected to.
    pub(super) wires: Vec<[Option<usize>; 2]>,
    /// Per exported input, the ports (system, input) that share it. The last exported input is
    /// connected.
    pub(super) shared: [Vec<(usize, usize)>; 2],
    pub(super) fixed: Vec<(usize, usize, [f64; 2])>,
}

/// Maximum number of paths to an output. Without caching, an output is computed once along every
/// path that leads to it.
pub(super) const MOST_PATHS: u64 = 60;

pub(super) fn build(specs: &[Spec]) -> Built {
    let mut b = DiagramBuilder::new();
    let mut blocks: Vec<Block<System>> = vec![];
    for (i, spec) in specs.iter().enumerate() {
        let system = || System {
            kind: spec.kind,
            timing: TIMINGS[spec.timing],
        };
        let block = if spec.nested {
            let inner = |b: &mut DiagramBuilder| Ok::<_, Error>(b.add("system", system()));
            b.subdiagram(&format!("inner{i}"), inner).unwrap()
        } else {
            b.add(&format!("system{i}"), system())
        };
        blocks.push(block);
    }
    let delayed = |i: &usize| specs[*i].kind.feedthrough() == [false, false];
    let mut wires = vec![[None; 2]; specs.len()];
    let mut shared = [vec![], vec![]];
    let mut fixed = vec![];
    let mut paths = vec![1; specs.len()];
    for (i, spec) in specs.iter().enumerate() {
        for (k, source) in spec.sources.iter().enumerate() {
            match *source {
                Source::Output(j) => {
                    // Feedthrough goes from front to back; other connections go anywhere.
                    let from: Vec<usize> =
                        (0..specs.len()).filter(|j| *j < i || delayed(j)).collect();
                    let Some(&j) = from.get(j % from.len().max(1)) else {
                        continue;
                    };
                    let times = if spec.kind == Kind::Cached { 2 } else { 1 };
                    let reads = spec.kind.feedthrough()[k];
                    if reads && paths[i] + times * paths[j] > MOST_PATHS {
                        fixed.push((i, k, [0.5, -0.5]));
                        continue;
                    }
                    paths[i] += if reads { times * paths[j] } else { 0 };
                    b.connect(blocks[j].y, blocks[i].u[k]);
                    wires[i][k] = Some(j);
                }
                Source::Fixed(value) => fixed.push((i, k, value)),
                Source::Left => {}
                Source::Shared(n) => {
                    b.export_input(&format!("shared{n}"), blocks[i].u[k]);
                    shared[n].push((i, k));
                }
            }
        }
    }
    let constant = b.add("constant", ConstantVectorSource::new([0.75, -0.25]));
    if let Some(&(i, k)) = shared[1].first() {
        b.connect(constant.y, blocks[i].u[k]);
    }
    if let Some(&(i, k)) = shared[0].last() {
        fixed.push((i, k, [0.4, 0.2]));
    }
    Built {
        diagram: b.build().unwrap(),
        blocks,
        wires,
        shared,
        fixed,
    }
}

/// Value of a port bit by bit, or its error.
pub(super) type Found = Result<Vec<u64>, String>;

impl Built {
    pub(super) fn context(&self) -> Context<f64> {
        let mut ctx = self.diagram.default_context();
        for &(i, k, value) in &self.fixed {
            ctx.fix(self.blocks[i].u[k], value.to_vec()).unwrap();
        }
        ctx
    }

    pub(super) fn output(&self, ctx: &Context<f64>, i: usize) -> Found {
        let y = ctx.eval(self.blocks[i].y);
        y.map(|y| y.iter().map(|y| y.to_bits()).collect())
            .map_err(|e| e.to_string())
    }

    pub(super) fn outputs(&self, ctx: &Context<f64>) -> Vec<Found> {
        let n = self.blocks.len();
        (0..n).map(|i| self.output(ctx, i)).collect()
    }

    /// Returns a new context with the same values.
    pub(super) fn copy(&self, ctx: &Context<f64>) -> Context<f64> {
        let mut copy = self.diagram.default_context();
        copy.set_time_state_and_parameters_from(ctx).unwrap();
        copy.fix_inputs_from(ctx).unwrap();
        copy
    }

    /// Returns flags for everything downstream of these outputs, according to the declarations.
    pub(super) fn downstream(&self, mut todo: Vec<usize>) -> Vec<bool> {
        let mut hit = vec![false; self.blocks.len()];
        while let Some(i) = todo.pop() {
            if std::mem::replace(&mut hit[i], true) {
                continue;
            }
            for (j, wires) in self.wires.iter().enumerate() {
                let reads = self.blocks[j].system().kind.feedthrough();
                if (0..2).any(|k| reads[k] && wires[k] == Some(i)) {
                    todo.push(j);
                }
            }
        }
        hit
    }

    /// Returns the systems whose outputs read this input.
    pub(super) fn readers(&self, i: usize, k: usize) -> Vec<usize> {
        let groups = self.shared.iter().find(|ports| ports.contains(&(i, k)));
        let ports = groups.cloned().unwrap_or_else(|| vec![(i, k)]);
        let reads =
            |&(i, k): &(usize, usize)| self.blocks[i].system().kind.feedthrough()[k].then_some(i);
        ports.iter().filter_map(reads).collect()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Time(f64),
    Parameter(usize, f64),
    State(usize, f64),
    Fix(usize, usize, [f64; 2]),
    FixInPlace(usize, usize, f64),
    DiscreteUpdates,
    UnrestrictedUpdates,
    Clone,
    Disable(usize, bool),
    DisableEntry(usize, bool),
    Evaluate(usize),
    EvaluateFrozen(usize),
    Simulate(f64),
}

pub(super) fn change() -> impl Strategy<Value = Change> {
    let i = || 0..1000_usize;
    prop_oneof![
        2 => (0.0..3.0_f64).prop_map(Change::Time),
        6 => (i(), -1.0..1.0_f64).prop_map(|(i, x)| Change::Parameter(i, x)),
        3 => (i(), value()).prop_map(|(i, x)| Change::State(i, x)),
        3 => (i(), 0..2_usize, [value(), value()]).prop_map(|(i, k, x)| Change::Fix(i, k, x)),
        3 => (i(), 0..2_usize, value()).prop_map(|(i, k, x)| Change::FixInPlace(i, k, x)),
        1 => Just(Change::DiscreteUpdates),
        1 => Just(Change::UnrestrictedUpdates),
        1 => Just(Change::Clone),
        1 => (i(), any::<bool>()).prop_map(|(i, x)| Change::Disable(i, x)),
        1 => (i(), any::<bool>()).prop_map(|(i, x)| Change::DisableEntry(i, x)),
        8 => i().prop_map(Change::Evaluate),
        1 => i().prop_map(Change::EvaluateFrozen),
        1 => (0.0..0.3_f64).prop_map(Change::Simulate),
    ]
}

/// Makes a change. Returns the systems whose outputs read the changed value, if the test knows
/// them.
pub(super) fn apply(built: &Built, ctx: &mut Context<f64>, change: Change) -> Option<Vec<usize>> {
    let n = built.blocks.len();
    let kind = |i: usize| built.blocks[i].system().kind;
    match change {
        Change::Time(t) => {
            ctx.set_time(t);
            return Some((0..n).filter(|i| kind(*i).reads_time()).collect());
        }
        Change::Parameter(i, x) => {
            *ctx.param_mut(built.blocks[i % n].p).unwrap() = x;
            return Some(vec![i % n]);
        }
        Change::State(i, x) => {
            let block = &built.blocks[i % n];
            if let Some(xc) = block.xc {
                ctx.xc_mut(xc).unwrap()[0] = x;
            }
            if let Some(xd) = block.xd {
                ctx.xd_mut(xd).unwrap()[0] = x;
            }
            if let Some(xa) = block.xa {
                ctx.xa_mut(xa).unwrap().push(x);
            }
            return Some(vec![i % n]);
        }
        Change::Fix(i, k, x) => {
            let done = ctx.fix(built.blocks[i % n].u[k], x.to_vec());
            let connected =
                built.wires[i % n][k].is_some() || built.shared[1].contains(&(i % n, k));
            assert_eq!(done.is_err(), connected);
            return Some(built.readers(i % n, k));
        }
        Change::FixInPlace(i, k, x) => {
            if let Ok(u) = ctx.fixed_mut(built.blocks[i % n].u[k]) {
                u[1] = x;
            }
            return Some(built.readers(i % n, k));
        }
        Change::DiscreteUpdates => {
            ctx.force_discrete_update().unwrap();
            return Some((0..n).filter(|i| kind(*i) == Kind::Hold).collect());
        }
        Change::UnrestrictedUpdates => {
            ctx.force_unrestricted_update().unwrap();
            return Some((0..n).filter(|i| kind(*i) == Kind::Letters).collect());
        }
        Change::Clone => *ctx = ctx.clone(),
        Change::Disable(i, true) => ctx.disable_caching(built.blocks[i % n].y).unwrap(),
        Change::Disable(i, false) => ctx.enable_caching(built.blocks[i % n].y).unwrap(),
        Change::DisableEntry(i, x) => {
            if let Some(entry) = built.blocks[i % n].entry {
                if x {
                    ctx.disable_caching_of(entry).unwrap()
                } else {
                    ctx.enable_caching_of(entry).unwrap()
                }
            }
        }
        Change::Evaluate(i) => {
            let _ = built.output(ctx, i % n);
            return Some(vec![]);
        }
        Change::EvaluateFrozen(i) => {
            ctx.freeze_cache(true);
            let _ = built.output(ctx, i % n);
            ctx.freeze_cache(false);
            return Some(vec![]);
        }
        Change::Simulate(time) => {
            let mut sim = Simulator::new(&built.diagram, ctx.clone()).unwrap();
            let end = ctx.time() + time;
            sim.advance_to(end).unwrap();
            *ctx = sim.into_context();
        }
    }
    None
}

/// Returns a hash of everything that a simulation of one second leaves.
pub(super) fn simulate(built: &Built, mode: CacheMode) -> u64 {
    let mut ctx = built.context();
    ctx.set_cache_mode(mode);
    let mut sim = Simulator::new(&built.diagram, ctx).unwrap();
    sim.advance_to(1.0).unwrap();
    let ctx = sim.context();
    let mut seen = vec![ctx.time().to_bits()];
    for block in &built.blocks {
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        seen.extend(block.xc.iter().flat_map(|x| bits(ctx.xc(*x).unwrap())));
        seen.extend(block.xd.iter().flat_map(|x| bits(ctx.xd(*x).unwrap())));
        seen.extend(block.xa.iter().flat_map(|x| bits(ctx.xa(*x).unwrap())));
        seen.extend_from_slice(&ctx.param(block.log).unwrap().lock().unwrap());
    }
    hash(&seen)
}
