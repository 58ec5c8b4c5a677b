//! The macro behind `tarragon_lcm::lcm_types`.

mod definition;
mod file;
mod fingerprint;
mod generate;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Generates Rust types from LCM type definitions. Use `tarragon_lcm::lcm_types`, which passes the
/// path of its crate.
#[doc(hidden)]
#[proc_macro]
pub fn lcm_types_in(input: TokenStream) -> TokenStream {
    match definition::parse(input.into()) {
        Ok(file) => generate::types(&file).into(),
        Err(error) => error.into_compile_error().into(),
    }
}
