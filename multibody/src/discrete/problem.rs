//! The convex problem of one discrete step: `v = argmin 1/2 |v - v*|_A^2 + sum_c l_c(J_c v)`.

use super::inverse_inertia::{inverse_inertia, inverse_inertia_of_columns};
use super::jacobian::{JacobianBlocks, JacobianFrame};
use super::law::Law;
use super::regularization::{InverseInertia, SiteLaw, StepSettings};
use super::site::{ContactSite, Site};
use super::threads::{CONTACTS_PER_TASK, are_many};
use super::trees::Trees;
use super::vertices::{DeformableSite, VertexColumns};
use smallvec::smallvec;

/// A constraint of the problem.
#[derive(Clone, Debug)]
pub(crate) struct ConvexConstraint {
    pub(crate) law: Law<f64>,
    /// Blocks of the Jacobian; none if nothing moves there.
    pub(crate) blocks: JacobianBlocks,
    /// Norm of `J diag(A)^-1 J^T` per row.
    pub(super) inverse_inertia: f64,
}

impl ConvexConstraint {
    /// Creates a constraint where nothing moves.
    fn unused() -> Self {
        Self {
            law: Law::Rows(smallvec![]),
            blocks: smallvec![],
            inverse_inertia: 0.0,
        }
    }
}

/// The constraints of a problem, with the values of their Jacobians.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConvexConstraints {
    pub(crate) list: Vec<ConvexConstraint>,
    pub(crate) jacobian: Vec<f64>,
    /// Columns of blocks that belong to some vertices of a deformable body.
    pub(crate) vertices: Vec<VertexColumns>,
    /// Where the Jacobian of each contact starts, and the end of the last.
    starts: Vec<u32>,
}

/// Kinematics and inertia from which the constraints of a problem are derived.
pub(crate) struct ProblemFrame<'a> {
    pub(crate) kinematics: JacobianFrame<'a, f64>,
    /// Velocities at the start of the step.
    pub(crate) v0: &'a [f64],
    /// Inverse of the diagonal of A.
    pub(crate) inverse_diagonal: &'a [f64],
    pub(crate) settings: &'a StepSettings,
}

impl ConvexConstraints {
    /// Replaces all constraints by those of contacts.
    pub(crate) fn set_contacts(&mut self, frame: &ProblemFrame<'_>, contacts: &[ContactSite<f64>]) {
        self.vertices.clear();
        let (starts, mut end) = (&mut self.starts, 0);
        // Contacts between the same bodies mostly follow each other.
        let (mut last, mut len) = (None, 0);
        starts.clear();
        starts.push(0);
        starts.extend(contacts.iter().map(|contact| {
            if last.replace(contact.bodies) != Some(contact.bodies) {
                len = frame.kinematics.contact_len(contact.bodies);
            }
            end += len;
            end as u32
        }));
        self.list
            .resize_with(contacts.len(), ConvexConstraint::unused);
        self.jacobian.resize(end, 0.0);
        let parallel = are_many(contacts.len());
        let (list, values) = (&mut self.list, &mut self.jacobian);
        frame.add_contacts(contacts, starts, list, values, parallel);
    }

    /// Adds a constraint at a site.
    pub(crate) fn add(&mut self, frame: &ProblemFrame<'_>, site: &Site<f64>, law: &SiteLaw<f64>) {
        let first = self.jacobian.len();
        let blocks = frame.kinematics.jacobian(site, &mut self.jacobian);
        let law = |w: &InverseInertia<'_, f64>, _: &JacobianBlocks| frame.settings.law(law, w);
        let values = &self.jacobian;
        let constraint = match site.num_rows() {
            1 => frame.constraint::<1>(values, blocks, law),
            3 => frame.constraint::<3>(values, blocks, law),
            _ => frame.constraint::<6>(values, blocks, law),
        };
        if constraint.blocks.is_empty() {
            self.jacobian.truncate(first);
        }
        self.list.push(constraint);
    }
}

impl ConvexConstraints {
    /// Adds a constraint of a deformable body. Trees and velocities of the frame include those of
    /// deformable bodies, of which the first is tree `first_tree`.
    pub(crate) fn add_deformable_site(
        &mut self,
        frame: &ProblemFrame<'_>,
        trees: &Trees,
        first_tree: usize,
        site: &DeformableSite,
    ) {
        let (blocks, columns) = site.add_jacobian(
            &frame.kinematics,
            trees,
            first_tree,
            &mut self.jacobian,
            &mut self.vertices,
        );
        let inverse = |(column, k): &([f64; 3], usize)| (*column, frame.inverse_diagonal[*k]);
        let real = inverse_inertia_of_columns(columns.iter().map(inverse));
        if real == 0.0 {
            self.list.push(ConvexConstraint::unused());
            return;
        }
        let w = InverseInertia {
            real,
            differentiate: &|| real,
        };
        let vn = columns.iter().map(|(column, k)| column[2] * frame.v0[*k]);
        let law = site.law.law(frame.settings, &w, vn.sum());
        self.list.push(ConvexConstraint {
            law,
            blocks,
            inverse_inertia: real,
        });
    }
}

impl ProblemFrame<'_> {
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
