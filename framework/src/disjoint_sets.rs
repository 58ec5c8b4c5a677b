//! Disjoint sets with a union that can be undone (union-find).

/// A partition of `0..n` into disjoint sets, which unions make coarser.
///
/// Each set is a tree whose root is its representative. A union hangs the smaller tree below the
/// root of the larger one, so that no element is deeper than log2(n). Paths are not shortened:
/// this way the last unions can be undone, and a look-up borrows the partition immutably.
///
/// Source: R. Tarjan, "Efficiency of a good but not linear set union algorithm", Journal of the ACM
/// 22(2), 1975.
///
/// ```
/// use tarragon_framework::DisjointSets;
/// let mut sets = DisjointSets::new(4);
/// assert!(sets.unite(0, 1) && sets.unite(2, 3));
/// assert!(!sets.unite(1, 0), "0 and 1 are in the same set already");
/// assert_eq!(sets.find(0), sets.find(1));
/// assert_ne!(sets.find(1), sets.find(2));
///
/// sets.truncate(4, 1);
/// assert_ne!(sets.find(2), sets.find(3), "the second union is undone");
/// ```
#[derive(Clone, Debug, Default)]
pub struct DisjointSets {
    /// By element: its parent in the tree; a root is its own parent.
    parents: Vec<u32>,
    /// By element: the number of elements below and including it, if it is a root.
    sizes: Vec<u32>,
    /// Elements that stopped being roots, one per union.
    united: Vec<u32>,
}

impl DisjointSets {
    /// Creates `len` sets of one element each. There can be at most 2^32 elements.
    pub fn new(len: usize) -> Self {
        let mut sets = Self::default();
        sets.reset(len);
        sets
    }

    /// Replaces all sets by `len` sets of one element each. The memory is kept.
    pub fn reset(&mut self, len: usize) {
        self.parents.clear();
        self.parents.extend(0..len as u32);
        self.sizes.clear();
        self.sizes.resize(len, 1);
        self.united.clear();
    }

    /// Adds a set of one new element, whose index is the number of elements before.
    pub fn push(&mut self) {
        self.parents.push(self.parents.len() as u32);
        self.sizes.push(1);
    }

    /// Returns the representative of the set of an element. It changes if the set is united with
    /// another one.
    #[inline]
    pub fn find(&self, element: usize) -> usize {
        let mut at = element;
        loop {
            let parent = self.parents[at] as usize;
            if parent == at {
                return at;
            }
            at = parent;
        }
    }

    /// Unites the sets of two elements. Returns `false` if they are in the same set already.
    #[inline]
    pub fn unite(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        let (small, large) = if self.sizes[a] < self.sizes[b] {
            (a, b)
        } else {
            (b, a)
        };
        self.parents[small] = large as u32;
        self.sizes[large] += self.sizes[small];
        self.united.push(small as u32);
        true
    }

    /// Returns the number of unions that joined two different sets.
    pub fn num_unions(&self) -> usize {
        self.united.len()
    }

    /// Undoes all but the first `num_unions` unions, then removes all but the first `len` elements.
    /// The remaining unions must not involve a removed element.
    pub fn truncate(&mut self, len: usize, num_unions: usize) {
        let first = num_unions.min(self.united.len());
        for small in self.united.drain(first..).rev() {
            let large = self.parents[small as usize] as usize;
            self.sizes[large] -= self.sizes[small as usize];
            self.parents[small as usize] = small;
        }
        self.parents.truncate(len);
        self.sizes.truncate(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Representatives of all elements, as the least element of each set.
    fn least_members(sets: &DisjointSets, len: usize) -> Vec<usize> {
        let first = |i: usize| (0..len).find(|j| sets.find(*j) == sets.find(i));
        (0..len).filter_map(first).collect()
    }

    #[test]
    fn connection_is_transitive() {
        let mut sets = DisjointSets::new(5);
        assert!(sets.unite(1, 2) && sets.unite(3, 4));
        assert!(sets.unite(4, 1));
        assert!(!sets.unite(2, 3));
        sets.truncate(5, 1);
        assert!(sets.unite(2, 3) && !sets.unite(3, 1));
        assert_eq!(sets.num_unions(), 2);
    }

    proptest! {
        #[test]
        fn sets_are_those_of_a_partition_by_labels(
            pairs in prop::collection::vec((0..20_usize, 0..20_usize), 0..40),
            undone in 0..40_usize,
        ) {
            let mut sets = DisjointSets::new(20);
            let mut labels: Vec<usize> = (0..20).collect();
            let mut history = vec![labels.clone()];
            for (a, b) in pairs {
                let (low, high) = (labels[a].min(labels[b]), labels[a].max(labels[b]));
                prop_assert_eq!(sets.unite(a, b), low != high);
                if low != high {
                    labels.iter_mut().filter(|x| **x == high).for_each(|x| *x = low);
                    history.push(labels.clone());
                }
                prop_assert_eq!(&least_members(&sets, 20), &labels);
            }
            let kept = sets.num_unions().saturating_sub(undone);
            sets.truncate(20, kept);
            prop_assert_eq!(&least_members(&sets, 20), &history[kept]);
        }
    }
}
