//! Gamma: conversion of screen values to linear light.

/// Exponent that turns screen values into linear light.
pub const GAMMA: f32 = 2.2;
