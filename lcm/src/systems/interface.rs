//! The system that handles messages during a simulation, and the setup of several by name.

use super::buses::LcmBuses;
use crate::Result;
use crate::bus::{Lcm, LcmParams};
use std::collections::BTreeMap;
use std::time::Duration;
use tarragon_framework::prelude::*;

/// Most rounds of handling at one simulated time. Systems that answer each other must settle within
/// them, and peers that send faster than the simulation computes cannot stop simulated time.
const MOST_AT_ONCE: u32 = 16;

/// Handles a bus's messages while its diagram is simulated (Drake's `LcmInterfaceSystem`).
///
/// Without it, [`LcmSubscriberSystem`](crate::LcmSubscriberSystem)s and other subscriptions receive
/// nothing during a simulation. It checks for messages at every step of the simulator and before
/// the first one. If messages are waiting, it calls their handlers and requests a step of zero
/// duration, so that subscriber systems are updated before simulated time advances, whichever
/// system was added first.
///
/// Messages that its own diagram publishes on the bus are handled in the same way, at the simulated
/// time of publishing. There are at most 16 such steps at one simulated time; then time advances,
/// and waiting messages are handled at the next step.
///
/// It has no ports.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_lcm::{Lcm, LcmInterfaceSystem, Subscriber, types::LcmtPoint};
/// let mut b = DiagramBuilder::new();
/// let lcm = LcmInterfaceSystem::add_to_builder(&mut b, "lcm", Lcm::with_url("memq://")?);
/// let heard = Subscriber::<LcmtPoint>::new(&lcm, "POINT")?;
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// lcm.publish("POINT", &LcmtPoint::default())?;
/// sim.advance_to(1.0)?;
/// assert_eq!(heard.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LcmInterfaceSystem {
    lcm: Lcm,
}

impl LcmInterfaceSystem {
    /// Creates a system that handles the messages of `lcm`.
    pub fn new(lcm: Lcm) -> Self {
        Self { lcm }
    }
    /// Adds such a system to a diagram, and returns the bus.
    pub fn add_to_builder(builder: &mut DiagramBuilder, name: &str, lcm: Lcm) -> Lcm {
        builder.add(name, Self::new(lcm.clone()));
        lcm
    }
    /// The bus.
    pub fn lcm(&self) -> &Lcm {
        &self.lcm
    }
}

/// The simulated time at which messages were handled last, and how often.
#[derive(Clone, Copy, Debug)]
struct Handled {
    time: f64,
    times: u32,
}

impl Handled {
    /// Number of rounds of handling at `time`.
    fn times_at(self, time: f64) -> u32 {
        if self.time == time { self.times } else { 0 }
    }
}

impl<T: Scalar> LeafSystem<T> for LcmInterfaceSystem {
    type Ports = ();

    fn declare(&self, d: &mut Declare<Self, T>) {
        const NEVER: Handled = Handled {
            time: f64::NAN,
            times: 0,
        };
        let state = d.abstract_state(NEVER);
        d.unrestricted_update_on(Trigger::Initialization, move |_, _, next| {
            *next.xa_mut(state) = NEVER;
            Ok(EventStatus::Succeeded)
        });
        let handled = d.timed_event(move |this, ctx| {
            let now = ctx.time().re();
            if ctx.xa::<Handled>(state).times_at(now) == MOST_AT_ONCE {
                return Ok(f64::INFINITY);
            }
            let count = this.lcm.handle_subscriptions(Duration::ZERO)?;
            Ok(if count > 0 { now } else { f64::INFINITY })
        });
        d.unrestricted_update_on(Trigger::Timed(handled), move |_, ctx, next| {
            let time = ctx.time().re();
            let times = ctx.xa::<Handled>(state).times_at(time) + 1;
            *next.xa_mut(state) = Handled { time, times };
            Ok(EventStatus::Succeeded)
        });
    }
}

/// Opens buses, and adds an [`LcmInterfaceSystem`] of the same name to a diagram for each of them
/// (Drake's `ApplyLcmBusConfig`).
///
/// Buses without parameters, or with the URL [`LcmBuses::MEMQ_NULL`], discard what is published and
/// get no system.
///
/// ```
/// use std::collections::BTreeMap;
/// use tarragon_framework::prelude::*;
/// use tarragon_lcm::{LcmParams, apply_lcm_bus_config};
/// let text = "
/// driver:
///   lcm_url: memq://
///   channel_suffix: _SIM
/// viewer:            # no parameters: discards what is published
/// ";
/// let config: BTreeMap<String, Option<LcmParams>> = serde_saphyr::from_str(text)?;
/// let mut b = DiagramBuilder::new();
/// let buses = apply_lcm_bus_config(&config, &mut b)?;
/// assert_eq!(buses.names().collect::<Vec<_>>(), ["driver", "viewer"]);
/// assert_eq!(buses.find("example", "viewer")?.url(), "memq://null");
/// let paths: Vec<String> = b.build()?.systems().map(|s| s.path).collect();
/// assert_eq!(paths, ["driver"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error, with the bus's name, if a bus cannot be opened; nothing is added then.
pub fn apply_lcm_bus_config(
    config: &BTreeMap<String, Option<LcmParams>>,
    builder: &mut DiagramBuilder,
) -> Result<LcmBuses> {
    let mut buses = LcmBuses::new();
    for (name, params) in config {
        let lcm = match params {
            Some(params) => Lcm::new(params.clone()),
            None => Lcm::with_url(LcmBuses::MEMQ_NULL),
        };
        buses.add(name, lcm.map_err(|e| e.at(format!("LCM bus '{name}'")))?)?;
    }
    for (name, lcm) in buses.iter() {
        if lcm.url() != LcmBuses::MEMQ_NULL {
            LcmInterfaceSystem::add_to_builder(builder, name, lcm.clone());
        }
    }
    Ok(buses)
}
