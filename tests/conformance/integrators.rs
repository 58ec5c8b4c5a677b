//! Integrators compared with recorded runs.

use crate::sim::{cases, list, log, log_errors, miscounts, name, rows};
use crate::support::{Family, difference, number};
use serde_json::Value;
use tarragon_framework::SimulatorConfig;
use tarragon_framework::integrator::JacobianScheme;
use tarragon_framework::prelude::*;

/// The differential equation of a recorded case.
#[derive(Clone)]
pub(crate) enum Equation {
    VanDerPol {
        mu: f64,
    },
    /// Mass (kg), length (m), damping (N m s), gravity (m/s^2), torque (N m).
    Pendulum([f64; 5]),
    /// A linear plant under a controller with gains (proportional, integral, derivative) that
    /// follows a wave of (amplitude, frequency, phase): the plant, then the integral of the error.
    Controlled {
        gains: [f64; 3],
        wave: Vec<f64>,
        a: Vec<Vec<f64>>,
    },
    /// `x' = 1`.
    Clock,
}

impl Equation {
    fn of(case: &Value) -> Option<Self> {
        let get = |key: &str| number(&case[key]);
        let case_name = name(case);
        if case_name.starts_with("vanderpol") {
            Some(Self::VanDerPol { mu: get("mu") })
        } else if case_name.starts_with("pendulum") {
            let constants = ["mass", "length", "damping", "gravity", "torque"];
            Some(Self::Pendulum(constants.map(get)))
        } else if case_name == "pid_linear_plant" {
            Some(Self::Controlled {
                gains: ["kp", "ki", "kd"].map(get),
                wave: list(&case["sine"]),
                a: rows(&case["A"]),
            })
        } else {
            None
        }
    }

    /// Sizes of q, v and z, and the initial state of a case.
    fn start(&self, case: &Value) -> ((usize, usize, usize), Vec<f64>) {
        match self {
            Self::VanDerPol { .. } | Self::Pendulum(_) => ((1, 1, 0), list(&case["x0"])),
            Self::Controlled { .. } => ((0, 0, 3), vec![0.0; 3]),
            Self::Clock => ((0, 0, 1), vec![0.0]),
        }
    }

    fn rate<T: Scalar>(&self, t: T, x: &[T], dx: &mut [T]) {
        let f = T::from;
        match self {
            Self::VanDerPol { mu } => {
                dx[0] = x[1];
                dx[1] = f(*mu) * (f(1.0) - x[0] * x[0]) * x[1] - x[0];
            }
            Self::Pendulum([m, l, damping, g, torque]) => {
                dx[0] = x[1];
                dx[1] =
                    (f(*torque) - f(m * g * l) * x[0].sin() - f(*damping) * x[1]) / f(m * l * l);
            }
            Self::Controlled { gains, wave, a } => {
                let [kp, ki, kd] = gains.map(f);
                let angle = f(wave[1]) * t + f(wave[2]);
                let e = f(wave[0]) * angle.sin() - x[0];
                let edot = f(wave[0] * wave[1]) * angle.cos() - x[1];
                let u = kp * e + ki * x[2] + kd * edot;
                dx[0] = f(a[0][0]) * x[0] + f(a[0][1]) * x[1];
                dx[1] = f(a[1][0]) * x[0] + f(a[1][1]) * x[1] + u;
                dx[2] = e;
            }
            Self::Clock => dx[0] = f(1.0),
        }
    }
}

/// An equation, with the first `outputs` elements of its state as output.
pub(crate) struct Flow {
    outputs: usize,
    sizes: (usize, usize, usize),
    x0: Vec<f64>,
    equation: Equation,
}
impl Flow {
    pub(crate) fn new(equation: Equation, outputs: usize, case: &Value) -> Self {
        let (sizes, x0) = equation.start(case);
        Self {
            outputs,
            sizes,
            x0,
            equation,
        }
    }
}
impl<T: Scalar> LeafSystem<T> for Flow {
    type Ports = OutputPort<Vec<T>>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let x0: Vec<T> = self.x0.iter().map(|x| T::from(*x)).collect();
        d.continuous_state(self.sizes, &x0, (Dep::Time, Dep::Xc), |s, ctx, dx| {
            s.equation.rate(ctx.time(), ctx.xc(), dx);
            Ok(())
        });
        d.vector_output("x", self.outputs, Dep::Xc, |s, ctx, x| {
            x.copy_from_slice(&ctx.xc()[..s.outputs]);
            Ok(())
        })
    }
}

/// Compares one recorded run of an integrator, which took Jacobians by forward differences if it
/// needed them, with ours, which takes them by `jacobians`. `reference`: the solution at the
/// recorded times.
fn judge(
    family: &mut Family,
    case: &Value,
    scheme: &str,
    jacobians: JacobianScheme,
    equation: &Equation,
    reference: &[f64],
) {
    let name = format!("{} {jacobians:?}", name(case));
    let times = list(&case["log"]["t"]);
    let recorded = rows(&case["log"]["x"]);
    let size = recorded[0].len();
    let mut b = DiagramBuilder::new();
    let flow = b.add("flow", Flow::new(equation.clone(), 2, case));
    let per_step = log(&mut b, "per_step", *flow.ports(), size, None);
    let periodic = log(&mut b, "periodic", *flow.ports(), size, Some(times[1]));
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    let accuracy = case["accuracy"].as_f64();
    sim.apply_config(&SimulatorConfig {
        integration_scheme: scheme.into(),
        max_step_size: number(&case["max_step_size"]),
        accuracy: accuracy.unwrap_or(1e-3),
        use_error_control: accuracy.is_some(),
        jacobian_scheme: jacobians,
        ..SimulatorConfig::default()
    })
    .unwrap();
    sim.advance_to(*times.last().unwrap()).unwrap();
    assert_eq!(sim.jacobian_scheme_in_use(), jacobians);

    let same_jacobian = jacobians == JacobianScheme::ForwardDifference;
    let [t, x] = log_errors(&sim, &(periodic.clone(), &case["log"]));
    let mut errors = vec![("times", t, 0.0)];
    let s = sim.integrator_statistics();
    let counted = &case["integrator"];
    // Drake's implicit Euler does one more evaluation for each attempted step, and does not use it.
    let unused = if scheme == "implicit_euler" {
        s.steps + s.shrinkages_from_error_control + s.shrinkages_from_substep_failures
    } else {
        0
    };
    // The count with forward differences: one evaluation per unknown, and one more.
    let unknowns = if scheme == "velocity_implicit_euler" {
        1
    } else {
        2
    };
    let evaluations = s.derivative_evaluations - s.derivative_evaluations_for_jacobian
        + s.jacobian_evaluations * (unknowns + 1);
    println!(
        "{name}: {} steps, {} shrinkages, {} evaluations, {} Jacobians; recorded {counted}",
        s.steps, s.shrinkages_from_error_control, s.derivative_evaluations, s.jacobian_evaluations
    );
    let counts = [
        (s.steps, &counted["steps"]),
        (
            s.shrinkages_from_error_control,
            &counted["shrinkages_error"],
        ),
        (evaluations + unused, &counted["deriv_evals"]),
    ];
    errors.push(("counts", miscounts(&counts), 0.0));
    if same_jacobian {
        assert_eq!(evaluations, s.derivative_evaluations, "{name}");
    }
    let [t_step, x_step] = log_errors(&sim, &(per_step, &case["log_per_step"]));
    // Drake's error estimates lose digits to cancellation, and so do the chosen steps.
    let (rounding, of_steps) = accuracy.map_or((0.0, 1e-13), |_| (1e-8, 1e-8));
    // If the Jacobian differs by 1e-8, so does the remainder of an iteration, which is of the order
    // of the accuracy, 1e-4: this gives 1e-12 per step, over hundreds of steps.
    errors.push(("values", x, if same_jacobian { 1e-11 } else { 1e-9 }));
    errors.push(("times of steps", t_step, rounding));
    errors.push(("values at steps", x_step, of_steps));
    if !reference.is_empty() {
        let log = periodic.find_log(sim.context()).unwrap();
        let theirs = difference(&recorded.concat(), reference);
        let ours = difference(log.as_slice(), reference);
        errors.push(("error against the solution", ours, 1.02 * theirs + 1e-13));
    }
    family.case(|| name.clone(), &errors);
}

#[test]
fn integrators_match_recorded_runs() {
    let Some(cases) = cases("") else {
        return;
    };
    let solution = cases.iter().find(|c| name(c) == "vanderpol_reference");
    let solution = rows(&solution.unwrap()["x"]).concat();
    let mut family = Family::new("sim integrators");
    for case in &cases {
        let case_name = name(case);
        let others = ["discrete", "zoh", "events", "vanderpol_reference"];
        if others.iter().any(|p| case_name.starts_with(p)) {
            continue;
        }
        let scheme = case["scheme"].as_str().unwrap_or("runge_kutta3");
        let known = tarragon_framework::integrator::SCHEMES.contains(&scheme);
        let Some(equation) = Equation::of(case) else {
            println!(
                "SKIPPED sim {case_name}: the recording lacks the delay and gains of its blocks"
            );
            continue;
        };
        if !known {
            println!("SKIPPED sim {case_name}: no integrator '{scheme}'");
            continue;
        }
        let of_vanderpol = case_name.starts_with("vanderpol");
        let reference = if of_vanderpol { &solution[..] } else { &[] };
        let mut judge = |jacobians| {
            judge(&mut family, case, scheme, jacobians, &equation, reference);
        };
        judge(JacobianScheme::ForwardDifference);
        if [
            "implicit_euler",
            "velocity_implicit_euler",
            "radau1",
            "radau3",
        ]
        .contains(&scheme)
        {
            // With Jacobians that agree to 1e-8, iterations pass through the same states to 1e-8 of
            // their updates, so the numbers of steps and iterations are the same, except for ties.
            judge(JacobianScheme::AutoDiff);
        }
    }
    family.finish();
}
