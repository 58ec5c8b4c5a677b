//! Signals for scopes.

use super::publisher::LcmPublisherSystem;
use crate::Result;
use crate::bus::Lcm;
use crate::types::LcmtScope;
use tarragon_framework::prelude::*;
use tarragon_framework::to_microseconds;

/// Turns a vector into messages for programs that plot signals (Drake's `LcmScopeSystem`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `input` | vector |
/// | output | `output` | [`LcmtScope`] with the time (µs, rounded) and the vector |
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::Sine};
/// use tarragon_lcm::{Lcm, LcmScopeSystem, Subscriber, types::LcmtScope};
/// let lcm = Lcm::with_url("memq://")?;
/// let heard = Subscriber::<LcmtScope>::new(&lcm, "WAVE")?;
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(3).with_amplitude(2.0));
/// LcmScopeSystem::add_to_builder(&mut b, &lcm, wave.y, "WAVE", 0.1)?;
/// let diagram = b.build()?;
/// Simulator::new(&diagram, diagram.default_context())?.advance_to(0.5)?;
/// lcm.handle_subscriptions(std::time::Duration::ZERO)?;
/// let last = heard.message().ok_or("nothing heard")?;
/// assert_eq!((heard.count(), last.utime), (6, 500_000));
/// assert_eq!(last.value, [2.0 * 0.5_f64.sin(); 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LcmScopeSystem {
    /// Size of the vector; None accepts any.
    size: Option<usize>,
}

impl LcmScopeSystem {
    /// Creates a system for vectors of `size` elements. By itself it publishes nothing.
    pub fn new(size: usize) -> Self {
        Self { size: Some(size) }
    }
    /// Publishes `signal` on `channel` every `publish_period` (s), or at every step if that is
    /// zero. Adds and returns systems named `LcmScopeSystem(<channel>)` and
    /// `LcmPublisherSystem(<channel>)`, with numbers appended [if these names are
    /// taken](DiagramBuilder::unused_name).
    ///
    /// # Errors
    /// Returns an error if the period is negative or not finite.
    pub fn add_to_builder(
        builder: &mut DiagramBuilder,
        lcm: &Lcm,
        signal: OutputPort<Vec<f64>>,
        channel: &str,
        publish_period: f64,
    ) -> Result<(Block<Self>, Block<LcmPublisherSystem<LcmtScope>>)> {
        let publisher = LcmPublisherSystem::new(channel, lcm.clone(), publish_period, 0.0)?;
        let name = |kind: &str| builder.unused_name(&format!("{kind}({channel})"));
        let names = [name("LcmScopeSystem"), name("LcmPublisherSystem")];
        let scope = builder.add(&names[0], Self { size: None });
        let publisher = builder.add(&names[1], publisher);
        builder.connect(signal, scope.input);
        builder.connect(scope.output, publisher.lcm_message);
        Ok((scope, publisher))
    }
}

/// Ports of [`LcmScopeSystem`].
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_lcm::{LcmScopeSystem, LcmScopeSystemPorts};
/// let mut b = DiagramBuilder::new();
/// let ports: LcmScopeSystemPorts<f64> = *b.add("scope", LcmScopeSystem::new(2)).ports();
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(ports.input, vec![3.0, 4.0])?;
/// ctx.set_time(1.5);
/// assert_eq!(ctx.eval(ports.output)?.utime, 1_500_000);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LcmScopeSystemPorts<T> {
    /// The signal.
    pub input: InputPort<Vec<T>>,
    /// The message.
    pub output: OutputPort<LcmtScope>,
}

impl<T: Scalar> LeafSystem<T> for LcmScopeSystem {
    type Ports = LcmScopeSystemPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let input = match self.size {
            Some(size) => d.vector_input("input", size),
            None => d.input("input"),
        };
        let deps = (input, Dep::Time);
        let output = d.output("output", LcmtScope::default(), deps, move |_, ctx, out| {
            out.utime = to_microseconds(ctx.time().re())?;
            out.value.clear();
            out.value.extend(ctx.eval(input)?.iter().map(|u| u.re()));
            Ok(())
        });
        LcmScopeSystemPorts { input, output }
    }
}
