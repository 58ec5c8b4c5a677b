//! Two diagrams that communicate over LCM.
//!
//! ```text
//! cargo run --release --example 18_lcm [-- --url udpm://239.255.76.67:7667?ttl=0]
//! ```
//!
//! One publishes a wave 100 times per second, and less often for scopes; the other one receives
//! both. Without a URL, messages stay in memory. With the URL above, every LCM program on this
//! machine receives them too, and with `ttl=1` so do programs in the local network.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use std::time::Duration;
use tarragon::framework::primitives::Sine;
use tarragon::framework::to_microseconds;
use tarragon::lcm::types::{LcmtDrakeSignal, LcmtScope};
use tarragon::lcm::{
    Lcm, LcmInterfaceSystem, LcmPublisherSystem, LcmScopeSystem, LcmSubscriberSystem,
};
use tarragon::prelude::*;

/// Converts a vector to a message.
struct ToSignal;

impl<T: Scalar> LeafSystem<T> for ToSignal {
    type Ports = (InputPort<Vec<T>>, OutputPort<LcmtDrakeSignal>);
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u", 1);
        let model = LcmtDrakeSignal::default();
        let message = d.output("message", model, (Dep::Time, u), move |_, ctx, out| {
            out.val = ctx.eval(u)?.iter().map(|u| u.re()).collect();
            out.coord = vec!["wave".into()];
            out.timestamp = to_microseconds(ctx.time().re())?;
            Ok(())
        });
        (u, message)
    }
}

fn main() -> Result<()> {
    let url = match &std::env::args().skip(1).collect::<Vec<_>>()[..] {
        [] => "memq://".to_string(),
        [option, url] if option == "--url" => url.clone(),
        _ => return Err("usage: 18_lcm [--url URL]".into()),
    };
    // Messages published in memory reach only the same bus; on other transports, each diagram could
    // have its own bus.
    let lcm = Lcm::with_url(&url)?;

    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(1).with_frequency(2.0));
    let (u, message) = *b.add("to signal", ToSignal).ports();
    let publisher = LcmPublisherSystem::new("WAVE", lcm.clone(), 0.01, 0.0)?;
    let publisher = b.add("publisher", publisher);
    b.connect(wave.y, u);
    b.connect(message, publisher.lcm_message);
    LcmScopeSystem::add_to_builder(&mut b, &lcm, wave.y, "SCOPE", 0.1)?;
    let sender = b.build()?;

    let mut b = DiagramBuilder::new();
    LcmInterfaceSystem::add_to_builder(&mut b, "lcm", lcm.clone());
    let signal = LcmSubscriberSystem::<LcmtDrakeSignal>::new("WAVE", &lcm)?;
    let scope = LcmSubscriberSystem::<LcmtScope>::new("SCOPE", &lcm)?;
    let (signal, scope) = (b.add("signal", signal), b.add("scope", scope));
    let receiver = b.build()?;

    let mut sender = Simulator::new(&sender, sender.default_context())?;
    let mut receiver = Simulator::new(&receiver, receiver.default_context())?;
    for k in 1..=10 {
        let time = 0.1 * f64::from(k);
        sender.advance_to(time)?;
        // Over a network, messages may take a moment or get lost.
        let second = Duration::from_secs(1);
        signal.system().wait_for_message(10 * k as u64, second)?;
        receiver.advance_to(time)?;
        let ctx = receiver.context();
        let (count, last) = (
            ctx.eval(signal.message_count)?,
            ctx.eval(signal.lcm_message)?,
        );
        let at = last.timestamp as f64 * 1e-6;
        println!("message {count} is from {at:.2} s: {:.4}", last.val[0]);
    }
    let (count, last) = (
        receiver.context().eval(scope.message_count)?,
        receiver.context().eval(scope.lcm_message)?,
    );
    println!(
        "{count} messages for scopes, the last one with {:?}",
        last.value
    );
    println!("{:?}", lcm.statistics());
    Ok(())
}
