//! The finite-element model of one body: immutable, made once.

use super::assembly::{Assembly, Wanted};
use super::config::DeformableBodyConfig;
use super::element::{ElementGroup, FemElement};
use super::material::ElasticMaterial;
use super::ordering::dissect;
use super::passes::ElasticPass;
use super::pattern::ElementPattern;
use super::quadrature::quadrature_points;
use nalgebra::Vector3;
use std::sync::atomic::{AtomicU64, Ordering};
use tarragon_contact_solvers::sparse::{EliminationTree, SparseCholesky};
use tarragon_framework::simd::LANES;
use tarragon_framework::{Error, Result};

/// Most elements: places in their matrices are 32-bit numbers.
const MAX_ELEMENTS: usize = 10_000_000;

/// Finite-element model of a deformable body.
#[derive(Clone, Debug)]
pub struct FemModel {
    /// Unlike that of any other model that is not a clone.
    id: u64,
    config: DeformableBodyConfig,
    pub(super) material: ElasticMaterial,
    pub(super) groups: Vec<ElementGroup>,
    pub(super) pattern: ElementPattern,
    /// Order of elimination of the vertices.
    pub(super) tree: EliminationTree,
    /// Barycentric coordinates of the points where force densities are evaluated.
    pub(super) quadrature: Vec<[f64; 4]>,
    /// Positions of the vertices in the reference configuration.
    reference: Vec<f64>,
    num_elements: usize,
    /// Sum of the element volumes in the reference configuration.
    volume: f64,
    /// Root of the sum of the squared stiffnesses of the elements (N/m).
    rigidity: f64,
    /// By vertex: the sum of its row of the mass matrix.
    masses: Vec<f64>,
}

impl FemModel {
    /// Makes the model of a tetrahedral mesh in its stress-free configuration.
    ///
    /// # Errors
    /// Returns an error, which begins with `place`, if the configuration is invalid, there is no
    /// element, or an element has a vertex that does not exist, or no positive volume, or if a
    /// vertex belongs to no element.
    pub fn new(
        place: &str,
        reference: &[Vector3<f64>],
        tets: &[[u32; 4]],
        config: &DeformableBodyConfig,
    ) -> Result<Self> {
        config.check(place)?;
        if tets.is_empty() || tets.len() > MAX_ELEMENTS {
            return Err(Error::invalid(format!(
                "{place}: number of tetrahedra must be from 1 to {MAX_ELEMENTS}, got {}",
                tets.len()
            )));
        }
        let elements = tets.iter().enumerate();
        let elements = elements.map(|(k, tet)| element(place, reference, k, tet));
        let elements = elements.collect::<Result<Vec<FemElement>>>()?;
        let groups = elements.chunks(LANES);
        let groups: Vec<_> = groups.filter_map(ElementGroup::new).collect();
        let pattern = ElementPattern::new(reference.len(), &groups);
        if let Some(v) = (0..reference.len()).find(|v| !pattern.is_used(*v)) {
            return Err(Error::invalid(format!(
                "{place}: every vertex must belong to a tetrahedron, got vertex {v} in none"
            )));
        }
        let mut masses = vec![0.0; reference.len()];
        for element in &elements {
            for v in element.vertices {
                masses[v as usize] += config.mass_density * element.volume / 4.0;
            }
        }
        let material = ElasticMaterial {
            model: config.material_model,
            lame: config.lame(),
        };
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let rigidity = elements.iter().fold(0.0, |sum, e| {
            let gradients: f64 = e.gradients.iter().map(Vector3::norm_squared).sum();
            sum + (material.modulus() * e.volume * gradients).powi(2)
        });
        Ok(Self {
            rigidity: rigidity.sqrt(),
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            config: *config,
            material,
            tree: dissect(reference, &pattern.matrix),
            groups,
            pattern,
            quadrature: quadrature_points(config.element_subdivision_count),
            reference: reference.iter().flatten().copied().collect(),
            num_elements: tets.len(),
            volume: elements.iter().map(|e| e.volume).sum(),
            masses,
        })
    }

    /// Prepares the factorization of a matrix of this model. Does nothing if it has already been
    /// prepared for this model with the same participants.
    pub(super) fn analyze(&self, cholesky: &mut SparseCholesky, participants: &[u32]) {
        if cholesky.participants() != Some(participants) {
            cholesky.analyze(&self.tree, &self.pattern.matrix, participants);
        }
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn rigidity(&self) -> f64 {
        self.rigidity
    }

    pub(super) fn reference(&self) -> &[f64] {
        &self.reference
    }

    /// The configuration that the model was made with.
    pub fn config(&self) -> &DeformableBodyConfig {
        &self.config
    }

    /// Number of vertices of the mesh.
    pub fn num_vertices(&self) -> usize {
        self.pattern.matrix.num_vertices()
    }

    /// Number of tetrahedra.
    pub fn num_elements(&self) -> usize {
        self.num_elements
    }

    /// Volume of the reference configuration (m³).
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Mass of the body (kg).
    pub fn total_mass(&self) -> f64 {
        self.config.mass_density * self.volume
    }

    /// Elastic energy at given positions, and forces at the vertices: minus its gradient. The
    /// rotations of the linear corotated model are taken from `start`.
    pub fn elastic_forces(&self, start: &[f64], positions: &[f64]) -> (f64, Vec<f64>) {
        let pass = ElasticPass {
            material: self.material,
            start,
            positions,
        };
        let mut assembly = Assembly::default();
        assembly.run(&self.groups, &self.pattern, &pass, Wanted::FORCES, false);
        let (energy, _) = assembly.energy();
        (energy, assembly.forces.into_flattened())
    }

    /// Mass that each vertex stands for (kg): the sum of its row of the mass matrix.
    pub fn vertex_masses(&self) -> &[f64] {
        &self.masses
    }
}

fn element(
    place: &str,
    reference: &[Vector3<f64>],
    index: usize,
    tet: &[u32; 4],
) -> Result<FemElement> {
    let mut points = [Vector3::zeros(); 4];
    for (point, v) in points.iter_mut().zip(tet) {
        *point = *reference.get(*v as usize).ok_or_else(|| {
            Error::invalid(format!(
                "{place}: vertices of tetrahedron {index} must be less than {}, got {v}",
                reference.len()
            ))
        })?;
    }
    FemElement::new(*tet, &points).ok_or_else(|| {
        let [o, a, b, c] = points;
        let volume = (a - o).cross(&(b - o)).dot(&(c - o)) / 6.0;
        Error::invalid(format!(
            "{place}: volume of tetrahedron {index} must be positive and finite, got \
             {volume:?} m³; list its vertices right-handed"
        ))
    })
}
