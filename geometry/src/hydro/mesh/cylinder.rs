//! Cylinders: around a segment, a point or a disk, where they are deepest.

use super::tessellation::{TessellationBuilder, check_count, circle};
use crate::error::Result;
use nalgebra::Vector3;
use std::f64::consts::TAU;

/// Tolerance (m, relative above 1) within which a cylinder counts as exactly as high as it is wide.
const MEDIUM: f64 = 1e-14;

/// Returns a cylinder of some length along z with edges around it no longer than the hint (m).
pub(in crate::hydro) fn cylinder(
    radius: f64,
    length: f64,
    hint: f64,
) -> Result<TessellationBuilder> {
    let around = (TAU * radius / hint).ceil().max(3.0);
    check_count(9.0 * around, hint)?;
    let (n, half) = (around as usize, 0.5 * length);
    let mut mesh = TessellationBuilder::default();
    let [bottom, top] = [-half, half].map(|z| {
        let centre = mesh.add_outside(Vector3::new(0.0, 0.0, z));
        (centre, mesh.add_circle(n, radius, z))
    });
    let excess = half - radius;
    let tolerance = MEDIUM * half.min(radius).max(1.0);
    let next = |i: usize| (i + 1) % n;
    if excess.abs() <= tolerance {
        let middle = mesh.add_inside(Vector3::zeros());
        for i in 0..n {
            let j = next(i);
            let side = [top.1[i], top.1[j], bottom.1[j], bottom.1[i]];
            mesh.add_pyramid(side, middle);
            for (centre, rim) in [&bottom, &top] {
                mesh.add([*centre, rim[i], rim[j], middle]);
            }
        }
    } else if excess > 0.0 {
        let ends = [-excess, excess].map(|z| mesh.add_inside(Vector3::new(0.0, 0.0, z)));
        for i in 0..n {
            let j = next(i);
            for ((centre, rim), end) in [&bottom, &top].into_iter().zip(ends) {
                mesh.add([*centre, rim[i], rim[j], end]);
            }
            let [low, high] = [&bottom.1, &top.1].map(|rim| [rim[i], rim[j]]);
            mesh.add_prism([ends[0], low[0], low[1]], [ends[1], high[0], high[1]]);
        }
    } else {
        let middle = mesh.add_inside(Vector3::zeros());
        let disk = circle(n, -excess, 0.0).map(|p| mesh.add_inside(p));
        let disk: Vec<u32> = disk.collect();
        for i in 0..n {
            let j = next(i);
            let wedge = |centre: u32, rim: &[u32]| [centre, rim[i], rim[j]];
            let [low, high] = [&bottom, &top].map(|(centre, rim)| wedge(*centre, rim));
            mesh.add_prism(low, wedge(middle, &disk));
            mesh.add_prism(wedge(middle, &disk), high);
            let side = |i: usize| [bottom.1[i], disk[i], top.1[i]];
            mesh.add_prism(side(i), side(j));
        }
    }
    Ok(mesh)
}
