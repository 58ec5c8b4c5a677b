//! Sets of bodies connected by joints, to detect a loop when a joint closes it.

use crate::model::BodyIndex;

/// Disjoint sets of bodies (R. Tarjan, "Efficiency of a good but not linear set union algorithm",
/// 1975).
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    /// Another body of the same set, nearer to its representative; the representative points to
    /// itself.
    towards: Vec<u32>,
}

impl Islands {
    /// Adds a body without connections.
    pub(crate) fn push(&mut self) {
        self.towards.push(self.towards.len() as u32);
    }
    /// Returns the representative of a body's set.
    fn find(&mut self, body: BodyIndex) -> usize {
        let mut at = body.index();
        while self.towards[at] as usize != at {
            // Path halving makes the next search shorter.
            let next = self.towards[at] as usize;
            self.towards[at] = self.towards[next];
            at = next;
        }
        at
    }
    /// Connects two bodies; returns false if they are connected already.
    pub(crate) fn join(&mut self, a: BodyIndex, b: BodyIndex) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.towards[a.max(b)] = a.min(b) as u32;
        a != b
    }
    /// Rebuilds the sets from a number of bodies and their connections.
    pub(crate) fn rebuild(
        &mut self,
        bodies: usize,
        joints: impl Iterator<Item = (BodyIndex, BodyIndex)>,
    ) {
        self.towards.clear();
        self.towards.extend(0..bodies as u32);
        for (a, b) in joints {
            self.join(a, b);
        }
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
        islands.rebuild(5, [(body(1), body(2))].into_iter());
        assert!(islands.join(body(2), body(3)) && !islands.join(body(3), body(1)));
    }
}
