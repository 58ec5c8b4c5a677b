//! Messages to LCM viewers.

mod allocations;
mod behaviour;
mod captures;
mod compare;
pub(crate) mod contacts;
mod deformable;
mod pydrake;
pub(crate) mod scene;

use std::sync::{Arc, Mutex};
use std::time::Duration;
use tarragon_lcm::{Lcm, LcmMessage, Subscription};

/// A channel, and the bytes of a message on it.
pub(crate) type Message = (String, Vec<u8>);

/// Recorder of all published messages, in order.
pub(crate) struct Heard {
    pub(crate) lcm: Lcm,
    messages: Arc<Mutex<Vec<Message>>>,
    _all: Subscription,
}

impl Heard {
    pub(crate) fn new() -> Self {
        let lcm = Lcm::with_url("memq://").unwrap();
        let messages = Arc::<Mutex<Vec<_>>>::default();
        let mut all = {
            let messages = messages.clone();
            lcm.subscribe_all_channels(move |channel, data| {
                let message = (channel.to_string(), data.to_vec());
                messages.lock().unwrap().push(message);
            })
            .unwrap()
        };
        all.set_queue_capacity(10_000);
        Self {
            lcm,
            messages,
            _all: all,
        }
    }
    /// Returns the messages since the last call.
    pub(crate) fn take(&self) -> Vec<Message> {
        while self.lcm.handle_subscriptions(Duration::ZERO).unwrap() > 0 {}
        std::mem::take(&mut self.messages.lock().unwrap())
    }
    /// Returns the channels of the messages since the last call, without their common prefix.
    fn channels(&self) -> Vec<String> {
        let short = |(channel, _): Message| channel.replace("DRAKE_VIEWER_", "");
        self.take().into_iter().map(short).collect()
    }
}

/// Returns the only message of a type on a channel.
pub(crate) fn only<M: LcmMessage>(messages: &[Message], channel: &str) -> M {
    let mut found = messages.iter().filter(|(c, _)| c == channel);
    let (_, bytes) = found.next().unwrap_or_else(|| panic!("no {channel}"));
    assert!(found.next().is_none(), "several messages on {channel}");
    M::decode(bytes).unwrap()
}
