//! The filter table against a table with one entry per pair, and its memory use.

use super::{FilterTable, ResolvedStatement};
use crate::ids::FilterId;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// An operation on a table; sets are given as lists of geometry numbers.
#[derive(Clone, Debug)]
enum Step {
    Apply(Vec<Said>),
    Transient(Vec<Said>),
    /// Removes the transient declaration at this index.
    Remove(usize),
    Flatten,
    /// Takes the role from a geometry.
    Clear(usize),
    RemoveGeometries(BTreeSet<usize>),
}

#[derive(Clone, Debug)]
struct Said {
    exclude: bool,
    a: BTreeSet<usize>,
    /// `None` for pairs within `a`.
    b: Option<BTreeSet<usize>>,
}

impl Said {
    fn resolve(&self, n: usize) -> ResolvedStatement {
        let list = |set: &BTreeSet<usize>| set.iter().copied().filter(|g| *g < n).collect();
        let a: Vec<usize> = list(&self.a);
        let b = self.b.as_ref().map_or(a.clone(), list);
        ResolvedStatement::new(self.exclude, &a, &b)
    }
}

/// Whether a statement excludes, and its pairs.
type PairStatement = (bool, BTreeSet<(usize, usize)>);

/// All statements in order, each with the full set of its pairs of stable ids.
#[derive(Default)]
struct BruteForce {
    /// Stable ids by number.
    ids: Vec<usize>,
    base: Vec<PairStatement>,
    transients: Vec<(FilterId, Vec<PairStatement>)>,
}

impl BruteForce {
    fn pairs(&self, said: &Said) -> PairStatement {
        let b = said.b.as_ref().unwrap_or(&said.a);
        let mut pairs = BTreeSet::new();
        for (&i, &j) in said.a.iter().flat_map(|i| b.iter().map(move |j| (i, j))) {
            if let (Some(&i), Some(&j)) = (self.ids.get(i), self.ids.get(j)) {
                pairs.extend([(i, j), (j, i)]);
            }
        }
        (said.exclude, pairs)
    }
    fn forget(&mut self, id: usize) {
        let transient = self.transients.iter_mut().flat_map(|(_, s)| s);
        for (_, pairs) in self.base.iter_mut().chain(transient) {
            pairs.retain(|(i, j)| *i != id && *j != id);
        }
    }
    fn is_excluded(&self, a: usize, b: usize) -> bool {
        let pair = (self.ids[a], self.ids[b]);
        let transient = self.transients.iter().flat_map(|(_, s)| s);
        let about = self.base.iter().chain(transient);
        let mut about = about.filter(|(_, pairs)| pairs.contains(&pair));
        about.next_back().is_some_and(|(exclude, _)| *exclude)
    }
}

const N: usize = 12;

fn said() -> impl Strategy<Value = Said> {
    let set = || prop::collection::btree_set(0..N, 0..6);
    (any::<bool>(), set(), prop::option::of(set())).prop_map(|(exclude, a, b)| Said {
        exclude,
        a,
        b,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let declaration = || prop::collection::vec(said(), 0..4);
    prop_oneof![
        6 => declaration().prop_map(Step::Apply),
        4 => declaration().prop_map(Step::Transient),
        3 => (0..3_usize).prop_map(Step::Remove),
        1 => Just(Step::Flatten),
        1 => (0..N).prop_map(Step::Clear),
        1 => prop::collection::btree_set(0..N, 1..3).prop_map(Step::RemoveGeometries),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn table_matches_one_entry_per_pair(steps in prop::collection::vec(step(), 1..25)) {
        let mut table = FilterTable::default();
        let mut expected = BruteForce { ids: (0..N).collect(), ..BruteForce::default() };
        for step in steps {
            let n = expected.ids.len();
            match step {
                Step::Apply(said) if !table.has_transient_history() => {
                    for said in said {
                        table.apply(&said.resolve(n));
                        let pairs = expected.pairs(&said);
                        expected.base.push(pairs);
                    }
                }
                Step::Apply(said) | Step::Transient(said) => {
                    let id = FilterId::new();
                    table.apply_transient(id, said.iter().map(|s| s.resolve(n)).collect());
                    let pairs = said.iter().map(|s| expected.pairs(s)).collect();
                    expected.transients.push((id, pairs));
                    prop_assert!(table.is_active(id));
                }
                Step::Remove(place) if place < expected.transients.len() => {
                    let (id, _) = expected.transients.remove(place);
                    prop_assert!(table.remove(id) && !table.is_active(id) && !table.remove(id));
                }
                Step::Remove(_) => prop_assert!(!table.remove(FilterId::new())),
                Step::Flatten => {
                    table.flatten();
                    let transients = std::mem::take(&mut expected.transients);
                    expected.base.extend(transients.into_iter().flat_map(|(_, s)| s));
                }
                Step::Clear(number) if number < n => {
                    table.clear(number);
                    expected.forget(expected.ids[number]);
                }
                Step::Clear(_) => {}
                Step::RemoveGeometries(numbers) => {
                    let numbers: Vec<usize> = numbers.into_iter().filter(|g| *g < n).collect();
                    table.remove_geometries(&numbers);
                    for number in numbers.iter().rev() {
                        let id = expected.ids.remove(*number);
                        expected.forget(id);
                    }
                }
            }
            prop_assert_eq!(table.has_transient_history(), !expected.transients.is_empty());
            let n = expected.ids.len();
            for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|(a, b)| a != b) {
                prop_assert_eq!(table.is_excluded(a, b), expected.is_excluded(a, b), "{} and {}", a, b);
            }
        }
    }
}

fn within(exclude: bool, members: &[usize]) -> ResolvedStatement {
    ResolvedStatement::new(exclude, members, members)
}

#[test]
fn statement_costs_one_tag_per_member() {
    let mut table = FilterTable::default();
    let all: Vec<usize> = (0..10_000).collect();
    table.apply(&within(true, &all));
    let (left, right) = all.split_at(3000);
    table.apply(&ResolvedStatement::new(false, left, right));
    assert_eq!(table.len(), 20_000);
    assert!(table.is_excluded(1, 2) && !table.is_excluded(1, 5000));
}

#[test]
fn switching_a_pair_repeatedly_needs_no_memory() {
    let mut table = FilterTable::default();
    table.apply(&within(true, &[0, 1, 2, 3]));
    for _ in 0..1000 {
        table.apply(&ResolvedStatement::new(false, &[0], &[1]));
        assert!(!table.is_excluded(0, 1));
        table.apply(&ResolvedStatement::new(true, &[0], &[1]));
        assert!(table.is_excluded(0, 1));
        let id = FilterId::new();
        table.apply_transient(id, vec![within(false, &[2, 3])]);
        assert!(table.remove(id));
        table.apply_transient(FilterId::new(), vec![within(false, &[2, 3])]);
        table.flatten();
        assert!(!table.is_excluded(2, 3));
    }
    // The first statement, the pair, and the flattened one.
    assert_eq!((table.len(), table.statements.len()), (8, 3));
    // Once everything is allowed, nothing is stored.
    table.apply(&within(false, &[0, 1, 2, 3]));
    table.apply(&ResolvedStatement::new(false, &[0], &[1]));
    assert_eq!((table.len(), table.statements.len()), (0, 0));
}

#[test]
fn removed_geometry_leaves_no_tags_behind() {
    let mut table = FilterTable::default();
    table.apply(&ResolvedStatement::new(true, &[0], &[1]));
    for _ in 0..10_000 {
        table.apply(&ResolvedStatement::new(true, &[0], &[2]));
        assert!(table.is_excluded(0, 2));
        table.remove_geometries(&[2]);
    }
    assert!(table.is_excluded(0, 1) && !table.is_excluded(0, 2));
    assert!(table.len() < 300, "{} tags", table.len());
    assert!(table.statements.len() < 300 && table.known.len() < 300);
}
