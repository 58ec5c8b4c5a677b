//! Sets of bodies connected by joints, to detect a loop when a joint closes it.

use crate::model::BodyIndex;

/// Disjoint sets of bodies (R. Tarjan, "Efficiency of a good but not linear set union algorithm",
/// 1975): by size and without shortened paths, so that connections can be undone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    /// Another body of the same set, nearer to its representative; the representative points to
    /// itself.
    towards: Vec<u32>,
    /// Number of bodies in the set, of bodies that stand for one.
    sizes: Vec<u32>,
    /// The bodies that stopped standing for a set, one per connection.
    joined: Vec<u32>,
}

impl Islands {
    /// Adds a body without connections.
    pub(crate) fn push(&mut self) {
        self.towards.push(self.towards.len() as u32);
        self.sizes.push(1);
    }
    /// Returns the representative of a body's set.
    fn find(&self, body: BodyIndex) -> usize {
        let mut at = body.index();
        while self.towards[at] as usize != at {
            at = self.towards[at] as usize;
        }
        at
    }
    /// Connects two bodies; returns false if they are connected already.
    pub(crate) fn join(&mut self, a: BodyIndex, b: BodyIndex) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        let (small, large) = if self.sizes[a] < self.sizes[b] {
            (a, b)
        } else {
            (b, a)
        };
        self.towards[small] = large as u32;
        self.sizes[large] += self.sizes[small];
        self.joined.push(small as u32);
        true
    }
    /// Number of connections.
    pub(crate) fn num_joined(&self) -> usize {
        self.joined.len()
    }
    /// Undoes all but the first connections and removes all but the first bodies. Removed bodies
    /// must have no other connections.
    pub(crate) fn truncate(&mut self, bodies: usize, num_joined: usize) {
        for small in self.joined.drain(num_joined..).rev() {
            let large = self.towards[small as usize] as usize;
            self.sizes[large] -= self.sizes[small as usize];
            self.towards[small as usize] = small;
        }
        self.towards.truncate(bodies);
        self.sizes.truncate(bodies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_is_transitive() {
        let body = BodyIndex::new;
        let mut islands = Islands::default();
        (0..5).for_each(|_| islands.push());
        assert!(islands.join(body(1), body(2)) && islands.join(body(3), body(4)));
        assert!(islands.join(body(4), body(1)));
        assert!(!islands.join(body(2), body(3)));
        islands.truncate(5, 1);
        assert!(islands.join(body(2), body(3)) && !islands.join(body(3), body(1)));
        assert_eq!(islands.num_joined(), 2);
    }
}
