//! What a bus has sent, received and dropped.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counts {
    ($($(#[$doc:meta])* $count:ident $field:ident,)*) => {
        /// What an [`Lcm`](crate::Lcm) has counted since it was made, for its clones together.
        ///
        /// ```
        /// use tarragon_lcm::Lcm;
        /// let lcm = Lcm::with_url("memq://")?;
        /// lcm.publish_bytes("PING", b"now", None)?;
        /// let statistics = lcm.statistics();
        /// assert_eq!((statistics.published, statistics.lost), (1, 0));
        /// # Ok::<(), tarragon_lcm::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct LcmStatistics {
            $($(#[$doc])* pub $field: u64,)*
        }

        /// One of the numbers of [`LcmStatistics`].
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Count {
            $($count,)*
        }

        /// Counts from any thread.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $($field: AtomicU64,)*
        }

        impl Counters {
            fn of(&self, count: Count) -> &AtomicU64 {
                match count {
                    $(Count::$count => &self.$field,)*
                }
            }
            pub(crate) fn read(&self) -> LcmStatistics {
                LcmStatistics {
                    $($field: self.$field.load(Ordering::Relaxed),)*
                }
            }
        }
    };
}

counts! {
    /// Messages handed over to the transport.
    Published published,
    /// Messages that the transport did not take: no route, a full buffer, a full disk.
    Unsent unsent,
    /// Whole messages that came in, on any channel.
    Received received,
    /// Messages that a sender has numbered and that did not arrive whole, by the gaps in the
    /// numbers of each sender. A socket buffer that was full shows here.
    Lost lost,
    /// Datagrams that are no LCM, or whose fields contradict each other or those before them.
    Malformed malformed,
    /// Messages of several datagrams that were given up before all had come.
    Incomplete incomplete,
    /// Messages that a subscription did not get because its queue was full.
    Overflowed overflowed,
    /// Messages that are not of the type that a subscription expects.
    Undecodable undecodable,
}

impl Counters {
    pub(crate) fn add(&self, count: Count, more: u64) {
        self.of(count).fetch_add(more, Ordering::Relaxed);
    }
    /// Takes back what was counted too early.
    pub(crate) fn take_back(&self, count: Count, less: u64) {
        self.of(count).fetch_sub(less, Ordering::Relaxed);
    }
    /// Counts what should not have happened; the first of a kind is logged as a warning.
    pub(crate) fn trouble(&self, count: Count, more: u64, what: impl FnOnce() -> String) {
        if self.of(count).fetch_add(more, Ordering::Relaxed) == 0 {
            tracing::warn!("LCM: {}; more of this kind is counted, not logged", what());
        }
    }
}
