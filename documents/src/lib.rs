//! Documents that describe robots and scenes: XML and YAML with positions, package URLs, and xacro.
//!
//! Nothing here knows what a document means. [`xml`] reads elements and attributes with their
//! places and collects a [`Diagnostic`] for each mistake; [`yaml`] reads values and explains
//! mistakes likewise; a [`PackageMap`] finds the files that URLs such as `package://arm/arm.urdf`
//! name, and fetches remote packages with the program curl; [`xacro`] expands macros.

mod diagnostic;
mod expression;
mod input;
mod numbers;
mod packages;

pub mod names;
pub mod xacro;
pub mod xml;
pub mod yaml;

pub use diagnostic::{Diagnostic, Misspelling, Severity, WarningGroups};
pub use input::{ModelInput, decode, read_file};
pub use numbers::{ParsedNumbers, plain_numbers};
pub use packages::{ArchiveType, PackageMap, RemoteParams, RemoteSettings, ResolvedUrl};
pub use tarragon_framework::{Error, ErrorKind, Result};
