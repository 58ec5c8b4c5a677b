//! Which bodies are connected by joints, so that a loop is found when it is closed.

use crate::model::BodyIndex;

/// Disjoint sets of bodies (R. Tarjan, "Efficiency of a good but not linear set union algorithm",
/// 1975).
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    /// Another body of the same set; itself for the one that stands for the set.
    towards: Vec<u32>,
}

impl Islands {
    /// Adds a body that is connected with nothing.
    pub(crate) fn push(&mut self) {
        self.towards.push(self.towards.len() as u32);
    }
    /// Returns the body that stands for a body's set.
    fn find(&mut self, body: BodyIndex) -> usize {
        let mut at = body.index();
        while self.towards[at] as usize != at {
            // Halves the way for the next time.
            let next = self.towards[at] as usize;
            self.towards[at] = self.towards[next];
            at = next;
        }
        at
    }
    /// Connects two bodies; false if they are connected already.
    pub(crate) fn join(&mut self, a: BodyIndex, b: BodyIndex) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.towards[a.max(b)] = a.min(b) as u32;
        a != b
    }
    /// Starts again with this many bodies and these connections.
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
    fn what_is_joined_is_connected() {
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
