//! Tests of the render server through HTTP.
