//! The loop that steps an experiment: pace, buttons and sliders.

use super::build::Experiment;
use super::log::Log;
use crate::stop::Stop;
use crate::{model, page};
use indicatif::{ProgressBar, ProgressStyle};
use std::error::Error;
use std::time::{Duration, Instant};
use tarragon::framework::random::RandomGenerator;
use tarragon::framework::warnings::collect;
use tarragon::framework::{Simulator, SimulatorConfig};
use tarragon::multibody::{ContactResults, MultibodyPlant};
use tarragon::prelude::*;
use tarragon::visualization::Meshcat;

/// Simulated time between two reads of the controls (s): exact in binary, as a frame rate.
pub(super) const PERIOD: f64 = 1.0 / 64.0;
/// Maximum number of frames of a recording per simulated second.
const MOST_FRAMES: f64 = 32.0;
/// Real time between two reads of the controls while nothing moves.
const PATIENCE: Duration = Duration::from_millis(10);
/// Lag behind real time that is made up for; more is forgotten.
const MAX_LAG: Duration = Duration::from_millis(100);
/// Real time between two lines of progress.
const NEWS: Duration = Duration::from_millis(100);
const PAUSE: &str = "Pause / Continue";
const STEP: &str = "Step";
const RESET: &str = "Reset";
const STOP: &str = "Stop";

/// Adds the buttons to a page.
pub(super) fn add_buttons(meshcat: &Meshcat) -> Result<(), Box<dyn Error>> {
    let keys = ["Space", "ArrowRight", "KeyR", "Escape"];
    for (button, key) in [PAUSE, STEP, RESET, STOP].into_iter().zip(keys) {
        meshcat.add_button(button, key)?;
    }
    Ok(())
}

/// Returns the frames per simulated second of a recording, for a publish period (s): as many as
/// allowed if each of them is to be a publish.
pub(super) fn recording_rate(publish_period: f64) -> f64 {
    let publishes = 1.0 / publish_period;
    publishes / (publishes / MOST_FRAMES - 1e-9).ceil().max(1.0)
}

/// Settings of the loop.
pub(super) struct Settings {
    pub(super) simulator: SimulatorConfig,
    pub(super) seed: u64,
    /// Simulated time at the end (s), possibly infinite.
    pub(super) until: f64,
    /// Simulated seconds per second; 0 for as fast as possible.
    pub(super) realtime_rate: f64,
    /// Time of a single step (s).
    pub(super) step: f64,
    pub(super) starts_paused: bool,
    /// Frames per simulated second of the recording, if there is one.
    pub(super) recording_rate: Option<f64>,
}

/// Reason for the end of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The end time was reached.
    Time,
    /// Someone clicked the button.
    Button,
    /// Ctrl-C.
    Signal,
}

/// Number of clicks of each button that have been handled.
#[derive(Default)]
struct Clicks([u64; 4]);

/// An experiment that runs.
pub(super) struct Playback<'a> {
    experiment: Experiment,
    sim: Simulator<f64>,
    settings: Settings,
    /// Server of the page; `None` if nothing is shown.
    meshcat: Option<Meshcat>,
    /// Whether the page has buttons.
    has_buttons: bool,
    clicks: Clicks,
    log: Option<Log>,
    options: &'a model::Options,
    is_paused: bool,
    /// Real time and simulated time (s) from which the pace is kept.
    origin: (Instant, f64),
    /// Real and simulated time (s) spent so far, without pauses.
    spent: (Duration, f64),
    /// End of the real time in `spent`.
    counted: Instant,
    /// Time spent in steps and in the log.
    stepping: Duration,
}

impl<'a> Playback<'a> {
    /// Prepares an experiment and shows its start.
    pub(super) fn new(
        experiment: Experiment,
        settings: Settings,
        meshcat: Option<Meshcat>,
        has_buttons: bool,
        log: Option<Log>,
        options: &'a model::Options,
    ) -> Result<Self, Box<dyn Error>> {
        let context = experiment.diagram.default_context();
        let mut sim = Simulator::new(&experiment.diagram, context)?;
        sim.apply_config(&settings.simulator)?;
        let mut playback = Self {
            is_paused: settings.starts_paused,
            experiment,
            sim,
            settings,
            meshcat,
            has_buttons,
            clicks: Clicks::default(),
            log,
            options,
            origin: (Instant::now(), 0.0),
            spent: (Duration::ZERO, 0.0),
            counted: Instant::now(),
            stepping: Duration::ZERO,
        };
        playback.start()?;
        Ok(playback)
    }

    /// Sets the initial state and shows it, as the first frame of a new recording.
    fn start(&mut self) -> Result<(), Box<dyn Error>> {
        let mut context = self.experiment.diagram.default_context();
        if let Some(time) = self.settings.simulator.start_time {
            context.set_time(time);
        }
        context.set_random(&mut RandomGenerator::new(self.settings.seed))?;
        let plant = &self.experiment.plant;
        self.experiment.actuation.apply(plant, &mut context)?;
        let velocities = &self.experiment.velocities;
        plant.set_velocities(&mut context, velocities)?;
        context.fix(self.experiment.pull, None)?;
        if let (Some(meshcat), Some(rate)) = (&self.meshcat, self.settings.recording_rate) {
            meshcat.delete_recording();
            meshcat.start_recording(rate, true)?;
            meshcat.with_recording(|animation| animation.set_start_time(context.time()));
        }
        *self.sim.context_mut() = context;
        let (initialized, warnings) = collect(|| {
            self.sim.initialize()?;
            // The index of terrain, which the first query makes, is not part of a step.
            let query = self.sim.context().eval(self.experiment.query)?;
            query.find_collision_candidates();
            Ok::<(), Box<dyn Error>>(())
        });
        initialized?;
        self.options.report(&warnings)?;
        self.keep_pace_from_now();
        Ok(())
    }

    /// Goes back to the initial state and discards the recording.
    fn reset(&mut self) -> Result<(), Box<dyn Error>> {
        if let Some(log) = &self.log {
            log.restart()?;
        }
        self.experiment.actuation.reset()?;
        self.experiment.actuation.read()?;
        self.start()
    }

    fn time(&self) -> f64 {
        self.sim.context().time()
    }
    fn keep_pace_from_now(&mut self) {
        self.origin = (Instant::now(), self.time());
    }

    /// Moves the page's camera so that it sees the models.
    pub(super) fn fit_camera(&self) -> Result<(), Box<dyn Error>> {
        let Some(meshcat) = &self.meshcat else {
            return Ok(());
        };
        let query = self.sim.context().eval(self.experiment.query)?;
        page::fit_camera(meshcat, query, 1.8)
    }

    /// Runs until the end time, the button or Ctrl-C.
    pub(super) fn run(&mut self, stop: &Stop) -> Result<Ending, Box<dyn Error>> {
        self.counted = Instant::now();
        let asked = stop.clone();
        // With tiny steps, a single advance takes hours.
        self.sim.set_monitor(move |_| {
            Ok(if asked.is_asked() {
                EventStatus::ReachedTermination {
                    reason: "the program was asked to end".into(),
                }
            } else {
                EventStatus::DidNothing
            })
        });
        let ending = self.follow(stop);
        self.count_time();
        ending
    }

    /// Counts the real time since the last call, without pauses.
    fn count_time(&mut self) {
        let now = Instant::now();
        if !self.is_paused {
            self.spent.0 += now - self.counted;
        }
        self.counted = now;
    }

    fn follow(&mut self, stop: &Stop) -> Result<Ending, Box<dyn Error>> {
        let status = ProgressBar::new_spinner();
        status.set_style(ProgressStyle::with_template("{msg}")?);
        let mut news: Option<Instant> = None;
        loop {
            self.count_time();
            if stop.is_asked() {
                return Ok(Ending::Signal);
            }
            let requests = self.handle_buttons()?;
            if requests.is_stopped {
                return Ok(Ending::Button);
            }
            if self.experiment.actuation.read()? {
                let (plant, context) = (&self.experiment.plant, self.sim.context_mut());
                self.experiment.actuation.apply(plant, context)?;
            }
            self.follow_drag()?;
            if self.is_paused {
                let stepped = (0..requests.single).try_for_each(|_| self.step());
                self.survive(stepped, &status)?;
            } else if self.wait() {
                let advanced = self.advance();
                self.survive(advanced, &status)?;
            }
            if news.is_none_or(|last| last.elapsed() > NEWS) {
                status.set_message(self.progress()?);
                news = Some(Instant::now());
            }
            if self.time() >= self.settings.until {
                return Ok(Ending::Time);
            }
            if self.is_paused {
                std::thread::sleep(PATIENCE);
            }
        }
    }

    /// Gives the spring by which a user drags a body to the context, and shows it.
    fn follow_drag(&mut self) -> Result<(), Box<dyn Error>> {
        let Some(dragged) = &mut self.experiment.dragged else {
            return Ok(());
        };
        let query = self.sim.context().eval(self.experiment.query)?;
        let plant = &self.experiment.plant;
        if let Some(pull) = dragged.read(plant.system(), query)? {
            self.sim.context_mut().fix(self.experiment.pull, pull)?;
        }
        let poses = self.sim.context().eval(plant.body_poses)?;
        dragged.show(poses)
    }
    /// Removes the line of a drag, which cannot be recorded.
    pub(super) fn hide_drag(&mut self) {
        if let Some(dragged) = &mut self.experiment.dragged {
            dragged.hide();
        }
    }

    /// Pauses at a failure of the simulation, such as forces that are too large, if someone can
    /// reset it; otherwise, it ends the simulation.
    fn survive(
        &mut self,
        result: Result<(), Box<dyn Error>>,
        status: &ProgressBar,
    ) -> Result<(), Box<dyn Error>> {
        match result {
            Err(error) if self.has_buttons && self.settings.until.is_infinite() => {
                status.suspend(|| {
                    eprintln!("error: {error}\npaused; the button '{RESET}' starts again");
                });
                self.is_paused = true;
                Ok(())
            }
            result => result,
        }
    }

    /// Advances by a single step.
    fn step(&mut self) -> Result<(), Box<dyn Error>> {
        let until = (self.time() + self.settings.step).min(self.settings.until);
        self.sim.advance_to(until)?;
        // Steps are shorter than the time between two frames.
        self.sim.context().force_publish()?;
        Ok(())
    }

    /// Advances by the time between two reads of the controls.
    fn advance(&mut self) -> Result<(), Box<dyn Error>> {
        let time = self.time();
        let rate = self.settings.realtime_rate;
        let period = if rate > 0.0 && rate < 1.0 {
            PERIOD * rate
        } else {
            PERIOD
        };
        // Multiples of the period, so that times do not drift; a tiny one may vanish by rounding.
        let next = ((time / period).floor() + 1.0) * period;
        let next = if next > time {
            next
        } else {
            time + self.settings.step
        };
        let begun = Instant::now();
        let advanced = self.sim.advance_to(next.min(self.settings.until));
        self.stepping += begun.elapsed();
        self.spent.1 += self.time() - time;
        advanced?;
        Ok(())
    }

    /// Waits for real time, for a moment at most; returns whether the next step is due.
    fn wait(&mut self) -> bool {
        let rate = self.settings.realtime_rate;
        if rate == 0.0 {
            return true;
        }
        let (begin, from) = self.origin;
        let ahead = (self.time() - from) / rate;
        let Ok(ahead) = Duration::try_from_secs_f64(ahead) else {
            return true;
        };
        let now = begin.elapsed();
        if now > ahead + MAX_LAG {
            self.keep_pace_from_now();
            return true;
        }
        let left = ahead.saturating_sub(now);
        std::thread::sleep(left.min(PATIENCE));
        left <= PATIENCE
    }

    /// Reads the buttons.
    fn handle_buttons(&mut self) -> Result<ButtonRequests, Box<dyn Error>> {
        let mut requests = ButtonRequests::default();
        let Some(meshcat) = self.meshcat.clone().filter(|_| self.has_buttons) else {
            return Ok(requests);
        };
        let mut clicks = [0; 4];
        for (k, button) in [PAUSE, STEP, RESET, STOP].into_iter().enumerate() {
            let now = meshcat.button_clicks(button)?;
            clicks[k] = now - self.clicks.0[k].min(now);
            self.clicks.0[k] = now;
        }
        let [pause, step, reset, stop] = clicks;
        if pause % 2 == 1 {
            self.is_paused = !self.is_paused;
            self.keep_pace_from_now();
        }
        if step > 0 {
            self.is_paused = true;
            requests.single = step;
        }
        if reset > 0 {
            self.reset()?;
        }
        requests.is_stopped = stop > 0;
        Ok(requests)
    }

    pub(super) fn plant(&self) -> &Block<MultibodyPlant> {
        &self.experiment.plant
    }
    pub(super) fn contacts(&self) -> OutputPort<ContactResults<f64>> {
        self.experiment.contacts
    }
    pub(super) fn context(&self) -> &Context<f64> {
        self.sim.context()
    }
    /// Real time spent on the simulation, without pauses.
    pub(super) fn wall_time(&self) -> Duration {
        self.spent.0
    }
    /// Number of steps, and the time spent on them, without that of the log.
    pub(super) fn stepping(&self) -> (u64, Duration) {
        // A discrete plant takes its own steps, whatever else there is in the diagram.
        let steps = match self.experiment.plant.time_step() {
            0.0 => self.sim.statistics().steps,
            // The first step is at the start; rounding of the time adds none.
            step => (self.spent.1 / step - 1e-6).ceil() as u64,
        };
        let log = self.log.as_ref().map_or(Duration::ZERO, Log::spent);
        (steps, self.stepping.saturating_sub(log))
    }

    /// Ratio of simulated to real time, without pauses.
    pub(super) fn realtime_rate(&self) -> f64 {
        self.spent.1 / self.spent.0.as_secs_f64()
    }
    /// Simulated time (s).
    pub(super) fn now(&self) -> f64 {
        self.time()
    }

    fn progress(&self) -> Result<String, Box<dyn Error>> {
        let contacts = self.sim.context().eval(self.experiment.contacts)?;
        let end = if self.settings.until.is_finite() {
            format!(" of {} s", self.settings.until)
        } else {
            " s".into()
        };
        let pace = match (self.is_paused, self.realtime_rate()) {
            (true, _) => "paused".into(),
            (false, rate) if rate.is_finite() => format!("{rate:.2} times real time"),
            _ => "starting".into(),
        };
        Ok(format!(
            "{:.3}{end}, {pace}, {} contacts",
            self.time(),
            contacts.point_pairs().len()
        ))
    }
}

/// Requests by buttons.
#[derive(Default)]
struct ButtonRequests {
    /// Number of single steps.
    single: u64,
    is_stopped: bool,
}
