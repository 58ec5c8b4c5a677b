//! Defects that public reports of other tools and new users showed, one small case each. Every test
//! names the source of the right value.

mod files;
mod foreign_handles;
mod noise;
mod not_finite;
mod stops;
mod time_of_context;
