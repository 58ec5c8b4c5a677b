//! Tests of the render server through HTTP.

mod http;
mod protocol;
mod pydrake;
mod support;
