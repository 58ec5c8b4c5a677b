//! The constraints of the convex problem of a discrete step, from the sites where they act.

use super::inverse_inertia::{inverse_inertia, inverse_inertia_of_columns};
use super::jacobian::JacobianFrame;
use super::regularization::{InverseInertia, SiteLaw, StepSettings};
use super::site::{ContactSite, Site};
use super::threads::{CONTACTS_PER_TASK, are_many};
use super::trees::Trees;
use super::vertices::DeformableSite;
use tarragon_contact_solvers::{
    ConvexConstraint, ConvexConstraints, JacobianBlocks, Law, TreeVelocities,
};

/// Kinematics and inertia from which the constraints of a problem are derived.
pub(crate) struct ProblemFrame<'a> {
    pub(crate) kinematics: JacobianFrame<'a, f64>,
    /// Velocities at the start of the step.
    pub(crate) v0: &'a [f64],
    /// Inverse of the diagonal of A.
    pub(crate) inverse_diagonal: &'a [f64],
    pub(crate) settings: &'a StepSettings,
}

impl ProblemFrame<'_> {
    /// Replaces all constraints by contacts. `starts` receives where the Jacobian of each
    /// contact starts, and the end of the last.
    pub(crate) fn set_contacts(
        &self,
        contacts: &[ContactSite<f64>],
        starts: &mut Vec<u32>,
        constraints: &mut ConvexConstraints,
    ) {
        constraints.vertices.clear();
        // Contacts between the same bodies mostly follow each other.
        let (mut end, mut last, mut len) = (0, None, 0);
        starts.clear();
        starts.push(0);
        starts.extend(contacts.iter().map(|contact| {
            if last.replace(contact.bodies) != Some(contact.bodies) {
                len = self.kinematics.contact_len(contact.bodies);
            }
            end += len;
            end as u32
        }));
        let (list, values) = (&mut constraints.list, &mut constraints.jacobian);
        list.resize_with(contacts.len(), ConvexConstraint::unused);
        values.resize(end, 0.0);
        let parallel = are_many(contacts.len());
        self.add_contacts(contacts, starts, list, values, parallel);
    }

    /// Adds the constraint of a site.
    pub(crate) fn add_site(
        &self,
        site: &Site<f64>,
        law: &SiteLaw<f64>,
        constraints: &mut ConvexConstraints,
    ) {
        let first = constraints.jacobian.len();
        let blocks = self.kinematics.jacobian(site, &mut constraints.jacobian);
        let law = |w: &InverseInertia<'_, f64>, _: &JacobianBlocks| self.settings.law(law, w);
        let values = &constraints.jacobian;
        let constraint = match site.num_rows() {
            1 => self.constraint::<1>(values, blocks, law),
            3 => self.constraint::<3>(values, blocks, law),
            _ => self.constraint::<6>(values, blocks, law),
        };
        if constraint.blocks.is_empty() {
            constraints.jacobian.truncate(first);
        }
        constraints.list.push(constraint);
    }

    /// Adds the constraint of a site of deformable bodies. Trees and velocities of the frame
    /// include the deformable bodies, of which the first is tree `first_tree`.
    pub(crate) fn add_deformable_site(
        &self,
        trees: &TreeVelocities,
        first_tree: usize,
        site: &DeformableSite,
        constraints: &mut ConvexConstraints,
    ) {
        let (blocks, columns) = site.add_jacobian(
            &self.kinematics,
            trees,
            first_tree,
            &mut constraints.jacobian,
            &mut constraints.vertices,
        );
        let inverse = |(column, k): &([f64; 3], usize)| (*column, self.inverse_diagonal[*k]);
        let real = inverse_inertia_of_columns(columns.iter().map(inverse));
        if real == 0.0 {
            constraints.list.push(ConvexConstraint::unused());
            return;
        }
        let w = InverseInertia {
            real,
            differentiate: &|| real,
        };
        let vn = columns.iter().map(|(column, k)| column[2] * self.v0[*k]);
        let law = site.law.law(self.settings, &w, vn.sum());
        constraints.list.push(ConvexConstraint {
            law,
            blocks,
            inverse_inertia: real,
        });
    }

    /// Computes the constraints of contacts and their Jacobians, whose values start where `starts`
    /// tells, with the end of the last; on several threads if `parallel`.
    fn add_contacts(
        &self,
        contacts: &[ContactSite<f64>],
        starts: &[u32],
        list: &mut [ConvexConstraint],
        jacobian: &mut [f64],
        parallel: bool,
    ) {
        if parallel && contacts.len() > CONTACTS_PER_TASK {
            let middle = contacts.len() / 2;
            let contacts = contacts.split_at(middle);
            let (left, right) = (&starts[..=middle], &starts[middle..]);
            let list = list.split_at_mut(middle);
            let jacobian = jacobian.split_at_mut((right[0] - left[0]) as usize);
            rayon::join(
                || self.add_contacts(contacts.0, left, list.0, jacobian.0, parallel),
                || self.add_contacts(contacts.1, right, list.1, jacobian.1, parallel),
            );
            return;
        }
        let places = starts.iter().zip(&starts[1..]);
        let constraints = contacts.iter().zip(list);
        let mut rest = jacobian;
        for ((contact, constraint), (start, end)) in constraints.zip(places) {
            let values;
            (values, rest) = rest.split_at_mut((end - start) as usize);
            *constraint = self.contact(contact, values);
            for block in &mut constraint.blocks {
                block.start += start;
            }
        }
    }

    /// Returns the constraint of a contact, whose blocks start where they do in `values`.
    #[inline]
    fn contact(&self, site: &ContactSite<f64>, values: &mut [f64]) -> ConvexConstraint {
        let blocks = self.kinematics.contact_jacobian(site, values);
        let trees = self.kinematics.trees;
        let law = |w: &InverseInertia<'_, f64>, blocks: &JacobianBlocks| {
            let velocity = |row| velocity(trees, values, blocks, row, self.v0);
            self.settings.contact(&site.parameters, w, velocity)
        };
        self.constraint::<3>(values, blocks, law)
    }

    /// Returns a constraint with R rows.
    #[inline]
    fn constraint<const R: usize>(
        &self,
        values: &[f64],
        blocks: JacobianBlocks,
        law: impl FnOnce(&InverseInertia<'_, f64>, &JacobianBlocks) -> Law<f64>,
    ) -> ConvexConstraint {
        let (trees, diagonal) = (self.kinematics.trees, self.inverse_diagonal);
        let real = inverse_inertia::<R>(trees, values, &blocks, diagonal);
        if real == 0.0 {
            return ConvexConstraint::unused();
        }
        let w = InverseInertia {
            real,
            differentiate: &|| real,
        };
        ConvexConstraint {
            law: law(&w, &blocks),
            blocks,
            inverse_inertia: real,
        }
    }
}

/// Returns the velocity of a row of a contact.
#[inline]
fn velocity(
    trees: &Trees,
    jacobian: &[f64],
    blocks: &JacobianBlocks,
    row: usize,
    v: &[f64],
) -> f64 {
    let mut sum = 0.0;
    for block in blocks {
        let range = trees.range(block.tree as usize);
        let row = &jacobian[block.start as usize + row * range.len()..];
        for (x, v) in row.iter().zip(&v[range]) {
            sum += x * v;
        }
    }
    sum
}
