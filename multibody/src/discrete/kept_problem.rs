//! Recognition of a problem that was solved last.

use super::regularization::{SiteLaw, StepSettings};
use super::site::{ContactSite, Site};
use super::step_start::StepStart;
use crate::dynamics::{Inertias, MultibodyForces};
use tarragon_framework::Scalar;

/// The values of the last problem, without derivatives. Derivatives in many variables are computed
/// in several passes at the same values, and all but the first need not solve the problem again.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptProblem {
    /// The start of the last step; `None` if its free motion failed.
    start: Option<KeptStart>,
    contacts: Vec<ContactSite<f64>>,
    sites: Vec<(Site<f64>, SiteLaw<f64>)>,
    /// Whether constraints moved vertices of deformable bodies, which are not kept.
    had_vertices: bool,
    /// Whether the last step started as the one before.
    is_same_start: bool,
    /// Whether the problem of these contacts and sites was solved.
    is_solved: bool,
}

#[derive(Clone, Debug)]
struct KeptStart {
    q: Vec<f64>,
    v: Vec<f64>,
    forces: MultibodyForces<f64>,
    inertias: Inertias<f64>,
    damping: Vec<f64>,
    locked: Vec<bool>,
    asleep: Vec<bool>,
    settings: StepSettings,
}

impl KeptStart {
    fn is<T: Scalar>(&self, start: &StepStart<'_, T>) -> bool {
        let equal = |kept: &[f64], now: &[T]| {
            kept.len() == now.len() && kept.iter().zip(now).all(|(a, b)| *a == b.re())
        };
        let spatial = self.forces.spatial.iter().zip(&start.forces.spatial);
        self.q == start.positions.real().q
            && self.v == start.velocities.real().v
            && equal(&self.forces.generalized, &start.forces.generalized)
            && self.forces.spatial.len() == start.forces.spatial.len()
            && spatial.into_iter().all(|(a, b)| *a == b.real())
            && equal(&self.damping, start.damping)
            && self.locked == start.locked
            && self.asleep == start.asleep
            && self.settings == start.settings
            && self.inertias == *start.inertias.real()
    }
}

impl KeptProblem {
    /// Begins a step. Returns whether it starts as the last one.
    pub(crate) fn begin<T: Scalar>(&mut self, start: &StepStart<'_, T>) -> bool {
        self.is_same_start = self.start.as_ref().is_some_and(|kept| kept.is(start));
        if !self.is_same_start {
            self.is_solved = false;
            self.start = Some(KeptStart {
                q: start.positions.real().q.clone(),
                v: start.velocities.real().v.clone(),
                forces: start.forces.real().into_owned(),
                inertias: start.inertias.real().into_owned(),
                damping: start.damping.iter().map(|x| x.re()).collect(),
                locked: start.locked.to_vec(),
                asleep: start.asleep.to_vec(),
                settings: start.settings,
            });
        }
        self.is_same_start
    }

    /// Forgets the start of a step whose free motion failed.
    pub(crate) fn forget(&mut self) {
        self.start = None;
    }

    /// Returns whether the problem of the step that was begun, with these contacts and sites, is
    /// the last one that was solved. If not, it counts as unsolved until [`Self::set_solved`]. One
    /// with vertices of deformable bodies is never known.
    pub(crate) fn is_known<T: Scalar>(
        &mut self,
        contacts: &[ContactSite<f64>],
        sites: &[(Site<T>, SiteLaw<T>)],
        has_vertices: bool,
    ) -> bool {
        let had_vertices = std::mem::replace(&mut self.had_vertices, has_vertices);
        let is_kept = self.is_same_start && self.is_solved && !has_vertices && !had_vertices;
        let same_sites = || {
            let equal = |((site, law), kept): (&(Site<T>, SiteLaw<T>), &(_, _))| {
                *site.real() == kept.0 && *law.real() == kept.1
            };
            sites.len() == self.sites.len() && sites.iter().zip(&self.sites).all(equal)
        };
        if is_kept && self.contacts == contacts && same_sites() {
            return true;
        }
        self.is_solved = false;
        self.contacts.clear();
        self.contacts.extend_from_slice(contacts);
        let real = |(site, law): &(Site<T>, SiteLaw<T>)| {
            (site.real().into_owned(), law.real().into_owned())
        };
        self.sites.clear();
        self.sites.extend(sites.iter().map(real));
        false
    }

    pub(crate) fn set_solved(&mut self) {
        self.is_solved = true;
    }
}
