//! Joining of convex pieces.

use crate::error::Result;
use crate::mesh::hull::{ConvexHull, convex_hull};
use nalgebra::Vector3;
use std::collections::BTreeMap;

/// Convex piece with the values that decide what it is joined with.
pub(super) struct HullPiece {
    pub(super) hull: ConvexHull,
    pub(super) volume: f64,
    low: Vector3<f64>,
    high: Vector3<f64>,
}

impl HullPiece {
    pub(super) fn new(hull: ConvexHull) -> Self {
        let first = hull.vertices[0];
        let vertices = || hull.vertices.iter();
        Self {
            volume: volume(&hull),
            low: vertices().fold(first, |low, p| low.inf(p)),
            high: vertices().fold(first, |high, p| high.sup(p)),
            hull,
        }
    }

    fn touches(&self, other: &Self) -> bool {
        (0..3).all(|i| self.low[i] <= other.high[i] && other.low[i] <= self.high[i])
    }

    /// Returns the hull of both pieces.
    fn with(&self, other: &Self) -> Result<Self> {
        let vertices = self.hull.vertices.iter().chain(&other.hull.vertices);
        convex_hull(&vertices.copied().collect::<Vec<_>>()).map(Self::new)
    }
}

/// Joins the two pieces that add the least volume, again and again, until at most `most` are left
/// and no two can be joined by adding at most `free` (m³).
///
/// Pieces that are apart are joined only if no two touch.
pub(super) fn merge(pieces: &mut Vec<HullPiece>, most: usize, free: f64) -> Result<()> {
    // Added volume of each pair, by place.
    let mut costs: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    let mut stale: Vec<usize> = (0..pieces.len()).collect();
    let mut apart = false;
    loop {
        for &i in &stale {
            for j in (0..pieces.len()).filter(|j| *j != i) {
                let pair = (i.min(j), i.max(j));
                let (a, b) = (&pieces[pair.0], &pieces[pair.1]);
                if !costs.contains_key(&pair) && (apart || a.touches(b)) {
                    let added = a.with(b)?.volume - a.volume - b.volume;
                    costs.insert(pair, added);
                }
            }
        }
        let best = costs.iter().min_by(|a, b| a.1.total_cmp(b.1));
        let Some((&(i, j), &cost)) = best else {
            if pieces.len() <= most || apart {
                return Ok(());
            }
            apart = true;
            stale = (0..pieces.len()).collect();
            continue;
        };
        if pieces.len() <= most && cost > free {
            return Ok(());
        }
        pieces[i] = pieces[i].with(&pieces[j])?;
        pieces.remove(j);
        let others = std::mem::take(&mut costs).into_iter();
        let others =
            others.filter(|(pair, _)| ![pair.0, pair.1].iter().any(|k| *k == i || *k == j));
        let place = |k: usize| if k > j { k - 1 } else { k };
        costs = others
            .map(|((a, b), cost)| ((place(a), place(b)), cost))
            .collect();
        stale = vec![i];
    }
}

fn volume(hull: &ConvexHull) -> f64 {
    let origin = hull.vertices[0];
    let corner = |v: u32| hull.vertices[v as usize] - origin;
    let sixfold = hull.faces.iter().map(|face| {
        let a = corner(face[0]);
        let fan = face[1..].windows(2);
        fan.map(|e| a.dot(&corner(e[0]).cross(&corner(e[1]))))
            .sum::<f64>()
    });
    sixfold.sum::<f64>() / 6.0
}
