//! The system that publishes.

use crate::bus::Lcm;
use crate::message::LcmMessage;
use crate::{Error, Result};
use std::marker::PhantomData;
use tarragon_framework::prelude::*;

/// Publishes the message at its input (Drake's `LcmPublisherSystem`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `lcm_message` | `M` |
///
/// It publishes at `offset + k * period`, or at every step if the period is zero, and when forced.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_lcm::{Lcm, LcmPublisherSystem, Subscriber, types::LcmtPoint};
/// let lcm = Lcm::with_url("memq://")?;
/// let heard = Subscriber::<LcmtPoint>::new(&lcm, "POINT")?;
/// let mut b = DiagramBuilder::new();
/// let publisher = LcmPublisherSystem::<LcmtPoint>::new("POINT", lcm.clone(), 0.5, 0.25)?;
/// let publisher = b.add("publisher", publisher);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(publisher.lcm_message, LcmtPoint { x: 1.0, y: 2.0, z: 3.0 })?;
/// Simulator::new(&diagram, ctx)?.advance_to(2.0)?;
/// lcm.handle_subscriptions(std::time::Duration::ZERO)?;
/// assert_eq!(heard.count(), 4); // at 0.25, 0.75, 1.25 and 1.75 s
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LcmPublisherSystem<M> {
    channel: String,
    lcm: Lcm,
    period: f64,
    offset: f64,
    marker: PhantomData<fn() -> M>,
}

impl<M: LcmMessage> LcmPublisherSystem<M> {
    /// Creates a publisher on `channel`. Times are in s. A period of zero publishes at every step
    /// and requires an offset of zero.
    ///
    /// # Errors
    /// Returns an error if the period or the offset is negative or not finite, or if the offset is
    /// nonzero without a period.
    pub fn new(channel: &str, lcm: Lcm, period: f64, offset: f64) -> Result<Self> {
        let wrong = |what: String| {
            Err(Error::invalid(format!(
                "LcmPublisherSystem '{channel}': {what}"
            )))
        };
        if !(period >= 0.0 && period.is_finite()) {
            return wrong(format!(
                "the period must be positive and finite, or 0 for every step, got {period:?} s"
            ));
        }
        if !(offset >= 0.0 && offset.is_finite()) {
            return wrong(format!(
                "the offset must be finite and at least 0, got {offset:?} s"
            ));
        }
        if period == 0.0 && offset > 0.0 {
            return wrong(format!(
                "the offset must be 0 if the period is 0, got {offset:?} s; choose a period, or no offset"
            ));
        }
        Ok(Self {
            channel: channel.into(),
            lcm,
            period,
            offset,
            marker: PhantomData,
        })
    }
    /// The channel.
    pub fn channel(&self) -> &str {
        &self.channel
    }
    /// The bus.
    pub fn lcm(&self) -> &Lcm {
        &self.lcm
    }
}

/// Ports of [`LcmPublisherSystem`].
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_lcm::{Lcm, LcmPublisherSystem, LcmPublisherSystemPorts, types::LcmtRobotState};
/// let mut b = DiagramBuilder::new();
/// let system = LcmPublisherSystem::new("STATE", Lcm::with_url("memq://")?, 0.1, 0.0)?;
/// let ports: LcmPublisherSystemPorts<LcmtRobotState> = *b.add("publisher", system).ports();
/// b.build()?.default_context().fix(ports.lcm_message, LcmtRobotState::default())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LcmPublisherSystemPorts<M> {
    /// The message to publish.
    pub lcm_message: InputPort<M>,
}

// Written by hand, because handles are copied even if messages cannot be.
impl<M> Clone for LcmPublisherSystemPorts<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for LcmPublisherSystemPorts<M> {}

impl<M: LcmMessage, T: Scalar> LeafSystem<T> for LcmPublisherSystem<M> {
    type Ports = LcmPublisherSystemPorts<M>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let lcm_message = d.input::<M>("lcm_message");
        let (period, offset) = (self.period, self.offset);
        let timed = match period {
            0.0 => Trigger::PerStep,
            _ => Trigger::Periodic { period, offset },
        };
        for trigger in [timed, Trigger::Forced] {
            d.publish_on(trigger, move |this, ctx| {
                let message = ctx.eval(lcm_message)?;
                this.lcm
                    .publish_at(&this.channel, message, ctx.time().re())?;
                Ok(EventStatus::Succeeded)
            });
        }
        LcmPublisherSystemPorts { lcm_message }
    }
}
