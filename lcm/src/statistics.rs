//! Counts of what a bus has sent, received and dropped.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counts {
    ($($(#[$doc:meta])* $count:ident $field:ident,)*) => {
        /// Counts of an [`Lcm`](crate::Lcm) since it was opened, shared by its clones.
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

        /// One of the counts of [`LcmStatistics`].
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Count {
            $($count,)*
        }

        /// Counters that any thread may increment.
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
    /// Messages that the transport accepted.
    Published published,
    /// Messages that the transport did not accept: no route, a full buffer, a full disk.
    Unsent unsent,
    /// Complete messages received, on any channel.
    Received received,
    /// Messages that did not arrive complete, from the gaps in each sender's sequence numbers. A
    /// full socket buffer shows here.
    Lost lost,
    /// Datagrams that are not LCM, or whose fields contradict each other or earlier ones.
    Malformed malformed,
    /// Fragmented messages that were abandoned before all fragments had arrived.
    Incomplete incomplete,
    /// Messages that a subscription lost because its queue was full.
    Overflowed overflowed,
    /// Messages that are not of the type that a subscription decodes.
    Undecodable undecodable,
}

impl Counters {
    pub(crate) fn add(&self, count: Count, more: u64) {
        self.of(count).fetch_add(more, Ordering::Relaxed);
    }
    /// Subtracts what was counted too early.
    pub(crate) fn take_back(&self, count: Count, less: u64) {
        self.of(count).fetch_sub(less, Ordering::Relaxed);
    }
    /// Counts a failure, and logs the first of its kind as a warning.
    pub(crate) fn trouble(&self, count: Count, more: u64, what: impl FnOnce() -> String) {
        if self.of(count).fetch_add(more, Ordering::Relaxed) == 0 {
            tracing::warn!("LCM: {}; more of this kind is counted, not logged", what());
        }
    }
}
