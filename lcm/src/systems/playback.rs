//! The system that plays a log.

use crate::log_bus::LcmLog;
use tarragon_framework::prelude::*;

/// Plays a log while its diagram is simulated (Drake's `LcmLogPlaybackSystem`): messages are
/// dispatched at exactly the simulated times of the log.
///
/// Subscribers of [`LcmLog::lcm`], such as [`LcmSubscriberSystem`](crate::LcmSubscriberSystem)s,
/// receive them without an [`LcmInterfaceSystem`](crate::LcmInterfaceSystem). Initializing the
/// simulator moves to the first message at or after the start time, forwards or backwards, so every
/// simulation plays the log anew. A message whose time has already passed, because the recording
/// clock was set back, is dispatched at once.
///
/// It has no ports.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_lcm::{LcmLog, LcmLogPlaybackSystem, LcmMessage, LcmSubscriberSystem, LogWriter};
/// use tarragon_lcm::types::LcmtPoint;
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("points.lcm");
/// let mut log = LogWriter::create(&path)?;
/// for k in 0..5 {
///     let point = LcmtPoint { x: k as f64, y: 0.0, z: 0.0 };
///     log.write(250_000 * k, "POINT", &point.encode()?)?;
/// }
/// drop(log);
///
/// let log = LcmLog::open(&path)?;
/// let mut b = DiagramBuilder::new();
/// b.add("log", LcmLogPlaybackSystem::new(log.clone()));
/// let point = b.add("point", LcmSubscriberSystem::<LcmtPoint>::new("POINT", log.lcm())?);
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(0.6)?;
/// assert_eq!(sim.context().eval(point.lcm_message)?.x, 2.0); // the message of 0.5 s
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LcmLogPlaybackSystem {
    log: LcmLog,
}

impl LcmLogPlaybackSystem {
    /// Creates a system that plays `log`.
    pub fn new(log: LcmLog) -> Self {
        Self { log }
    }
    /// The log.
    pub fn log(&self) -> &LcmLog {
        &self.log
    }
}

impl<T: Scalar> LeafSystem<T> for LcmLogPlaybackSystem {
    type Ports = ();

    fn declare(&self, d: &mut Declare<Self, T>) {
        d.unrestricted_update_on(Trigger::Initialization, |this, ctx, _| {
            this.log.seek(ctx.time().re())?;
            Ok(EventStatus::Succeeded)
        });
        let next_message = d.timed_event(|this, ctx| {
            let next = this.log.next_message_time()?;
            Ok(next.max(ctx.time().re()))
        });
        d.publish_on(Trigger::Timed(next_message), |this, ctx| {
            let now = ctx.time().re();
            loop {
                if !this.log.dispatch_message_and_advance_log(now)? {
                    return Ok(EventStatus::Succeeded);
                }
            }
        });
    }
}
