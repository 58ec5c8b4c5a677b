//! Assembly of the Hessian of an island.

use super::IslandSolver;
use crate::blocks;
use crate::island_problem::{IslandProblem, LocalColumns};
use crate::law::Stiffness;
use tarragon_framework::simd::{Kernel, dispatch};

/// Assembly of the Hessian of an island with deformable bodies.
struct HessianAssembly<'a, 'p>(&'a mut IslandSolver, &'a IslandProblem<'p>);

impl Kernel for HessianAssembly<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.0.assemble_all(self.1);
    }
}

impl IslandSolver {
    /// Assembles the Hessian: the triangle that is read, and possibly others of its elements.
    pub(super) fn assemble(&mut self, problem: &IslandProblem<'_>) {
        if problem.has_vertices() {
            dispatch(HessianAssembly(self, problem))
        } else {
            self.assemble_all(problem)
        }
    }

    #[inline(always)]
    fn assemble_all(&mut self, p: &IslandProblem<'_>) {
        self.hessian.clear();
        for (local, tree) in p.island.trees.iter().enumerate() {
            let block = self.hessian.diagonal_mut(local);
            block.copy_from_slice(p.problem.quadratic.block(*tree));
        }
        let (mut first, mut product) = (0, std::mem::take(&mut self.product));
        for (k, constraint) in p.list().enumerate() {
            let rows = constraint.law.num_rows();
            let blocks = &self.blocks[first..first + self.num_blocks[k]];
            first += blocks.len();
            let stiffness = &self.stiffnesses[k];
            if let ([b], Stiffness::Diagonal(g)) = (blocks, stiffness)
                && let LocalColumns::One(i) = b.columns
            {
                let x = p.values(b, 1)[0];
                self.hessian.diagonal_mut(b.tree)[i * b.size + i] += g[0] * x * x;
                continue;
            }
            if let [b] = blocks
                && let LocalColumns::Vertices(place) = b.columns
            {
                let (vertices, block) = (p.vertices(place), self.hessian.diagonal_mut(b.tree));
                blocks::add_stiffness_of_vertices(vertices, stiffness, block, b.size);
                continue;
            }
            for b in blocks {
                let right = p.stiff_factor(b, stiffness, rows, &mut product);
                for a in blocks {
                    let left = p.factor(a, rows);
                    if a.tree < b.tree {
                        let (block, transposed) = self.hessian.off_diagonal_mut(a.tree, b.tree);
                        if !transposed {
                            blocks::add_product_of(&left, &right, block)
                        } else {
                            blocks::add_product_of(&right, &left, block)
                        }
                    } else if a.tree == b.tree {
                        let block = self.hessian.diagonal_mut(a.tree);
                        blocks::add_symmetric_product_of(&left, &right, block);
                    }
                }
            }
        }
        self.product = product;
    }
}
