//! Gamma: conversion of linear light to screen values.

use super::simd::{Vector3x8, power};
use crate::render::appearance::GAMMA;
use wide::f32x8;

/// Converts linear light to screen values, without an upper limit.
pub(super) fn to_screen(mut light: Vector3x8) -> Vector3x8 {
    let least = f32x8::splat(1e-8);
    for c in &mut light {
        *c = c.simd_ge(least) & power(c.fast_max(least), 1.0 / GAMMA);
    }
    light
}
