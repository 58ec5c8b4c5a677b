//! Sequence numbers of one sender, and the losses that they reveal.

/// Number of remembered sequence numbers before the newest. Networks reorder by a few at most.
const WINDOW: u32 = 128;

/// The sequence numbers seen from one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbering {
    newest: u32,
    /// Bit k: the number `newest - k` was seen.
    seen: u128,
    /// Bit k: the number `newest - k` was skipped. Numbers before the first one received are
    /// neither seen nor skipped.
    skipped: u128,
}

/// Classification of a received sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Newer than all before, with `skipped` numbers missing in between.
    Newer { skipped: u32 },
    /// The same as the newest.
    Newest,
    /// Older than the newest, and skipped until now.
    Late,
    /// Older than the first one received, and not seen before.
    Earlier,
    /// Older than the newest, and seen before.
    Again,
    /// The sender has restarted its numbering.
    Restart,
}

impl Numbering {
    /// Starts just before the first number received: earlier messages do not count as lost.
    pub(super) fn before(number: u32) -> Self {
        Self {
            newest: number.wrapping_sub(1),
            seen: 0,
            skipped: 0,
        }
    }
    /// Starts with a number received.
    pub(super) fn start(number: u32) -> Self {
        Self {
            newest: number,
            seen: 1,
            skipped: 0,
        }
    }
    /// Records a sequence number. Numbers wrap around. `after_silence`: nothing was received for so
    /// long that the network no longer holds older datagrams.
    ///
    /// An old number means a restart if it is too old to be merely late, or if it comes after
    /// silence.
    pub(super) fn note(&mut self, number: u32, after_silence: bool) -> Arrival {
        let ahead = number.wrapping_sub(self.newest);
        if ahead == 0 {
            return Arrival::Newest;
        }
        if ahead <= i32::MAX as u32 {
            let shifted = |bits: u128| bits.checked_shl(ahead).unwrap_or(0);
            self.seen = shifted(self.seen) | 1;
            // All bits below `ahead`, except the number's own.
            self.skipped = shifted(self.skipped) | (!shifted(u128::MAX) & !1);
            self.newest = number;
            return Arrival::Newer { skipped: ahead - 1 };
        }
        let age = self.newest.wrapping_sub(number);
        if age >= WINDOW || after_silence {
            *self = Self::start(number);
            return Arrival::Restart;
        }
        let bit = 1_u128 << age;
        let arrival = match (self.seen & bit != 0, self.skipped & bit != 0) {
            (true, _) => Arrival::Again,
            (false, true) => Arrival::Late,
            (false, false) => Arrival::Earlier,
        };
        self.seen |= bit;
        self.skipped &= !bit;
        arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes<const N: usize>(first: u32, then: [u32; N]) -> [Arrival; N] {
        let mut numbering = Numbering::start(first);
        then.map(|number| numbering.note(number, false))
    }
    fn newer(skipped: u32) -> Arrival {
        Arrival::Newer { skipped }
    }

    #[test]
    fn gaps_are_counted_and_filled_once() {
        use Arrival::{Again, Earlier, Late, Newest};
        assert_eq!(
            notes(5, [6, 9, 8, 8, 7, 9, 10, 3, 3]),
            [
                newer(0),
                newer(2),
                Late,
                Again,
                Late,
                Newest,
                newer(0),
                Earlier,
                Again
            ]
        );
    }

    #[test]
    fn numbers_wrap_around() {
        let last = u32::MAX;
        assert_eq!(
            notes(last - 1, [last, 0, 2, 1, last]),
            [newer(0), newer(0), newer(1), Arrival::Late, Arrival::Again]
        );
        assert_eq!(notes(last, [3]), [newer(3)]);
        let mut first = Numbering::before(0);
        assert_eq!(
            [0, 0, 1].map(|n| first.note(n, false)),
            [newer(0), Arrival::Newest, newer(0)]
        );
    }

    #[test]
    fn a_restart_is_not_a_loss() {
        use Arrival::Restart;
        assert_eq!(
            notes(0, [1, 2, 0, 1]),
            [newer(0), newer(0), Arrival::Again, Arrival::Again]
        );
        assert_eq!(notes(1000, [3, 4, 6]), [Restart, newer(0), newer(1)]);
        assert_eq!(notes(1000, [1128, 1000]), [newer(127), Restart]);
        assert_eq!(
            notes(1000, [1127, 1000, 1001]),
            [newer(126), Arrival::Again, Arrival::Late]
        );
        let mut numbering = Numbering::start(70);
        assert_eq!(numbering.note(60, true), Restart);
        assert_eq!(numbering.note(63, true), newer(2));
    }
}
