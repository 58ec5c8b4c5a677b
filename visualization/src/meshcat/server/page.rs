//! Viewer page: built in, or read from a directory.

use crate::{Error, Result};
use bytes::Bytes;
use std::path::{Path, PathBuf};

/// Environment variable that names the directory of another viewer.
const VIEWER_VARIABLE: &str = "TARRAGON_VIEWER";
/// Placeholder for the scene of a static page.
pub(crate) const STATIC_MARK: &str = "<!--TARRAGON_STATIC-->";
/// Placeholder for the program.
pub(crate) const SCRIPT_MARK: &str = "<!--TARRAGON_SCRIPT-->";

/// Parts of a static page, as made by `viewer/build.mjs`.
#[derive(Debug)]
pub(crate) struct StaticPage {
    pub(crate) html: String,
    /// The program, compressed by gzip.
    pub(crate) viewer: Vec<u8>,
    /// The script that decompresses and starts the program.
    pub(crate) boot: String,
}

/// Source of the page.
#[derive(Debug)]
pub(crate) struct Page {
    directory: Option<PathBuf>,
}

impl Page {
    /// Selects the page of `directory`, else of the directory that `TARRAGON_VIEWER` names, else
    /// the built-in page.
    ///
    /// # Errors
    /// Returns an error if the directory has no page.
    pub(crate) fn new(directory: Option<PathBuf>) -> Result<Self> {
        let named = std::env::var_os(VIEWER_VARIABLE).filter(|d| !d.is_empty());
        let directory = directory.or_else(|| named.map(PathBuf::from));
        let page = Self { directory };
        page.live()?;
        Ok(page)
    }

    /// Returns the page that connects to the server. Files of a directory are read each time, so
    /// that a viewer can be edited while the server runs.
    pub(crate) fn live(&self) -> Result<String> {
        let Some(directory) = &self.directory else {
            return Ok(compose(BUILT_IN_PAGE, "", &script(BUILT_IN_VIEWER)));
        };
        for name in ["page.html", "meshcat.html", "index.html"] {
            let path = directory.join(name);
            if !path.is_file() {
                continue;
            }
            let page = read(&path)?;
            if !page.contains(SCRIPT_MARK) {
                return Ok(page);
            }
            return Ok(compose(
                &page,
                "",
                &script(&read(&directory.join("viewer.js"))?),
            ));
        }
        Err(Error::invalid(format!(
            "{}: the viewer directory must contain page.html, meshcat.html or index.html; it is set by \
             MeshcatParams::viewer_dir or the environment variable {VIEWER_VARIABLE}",
            directory.display()
        )))
    }

    /// Returns a file next to the page of a directory, with its content type.
    pub(crate) fn file(&self, name: &str) -> Option<(&'static str, Bytes)> {
        let directory = self.directory.as_ref()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
            return None;
        }
        let kind = match Path::new(name).extension()?.to_str()? {
            "js" | "mjs" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "html" => "text/html; charset=utf-8",
            "json" | "map" => "application/json",
            "ico" => "image/x-icon",
            "png" => "image/png",
            "jpg" => "image/jpeg",
            "svg" => "image/svg+xml",
            "txt" => "text/plain; charset=utf-8",
            "wasm" => "application/wasm",
            "woff2" => "font/woff2",
            _ => return None,
        };
        let path = directory.join(name);
        let file = path.is_file().then(|| std::fs::read(path).ok());
        Some((kind, file.flatten()?.into()))
    }

    /// Returns the parts of a static page: those of the directory if `viewer/build.mjs` made it,
    /// otherwise the built-in ones.
    pub(crate) fn static_page(&self) -> Result<StaticPage> {
        let built_in = || StaticPage {
            html: BUILT_IN_PAGE.into(),
            viewer: BUILT_IN_VIEWER_GZ.into(),
            boot: BUILT_IN_BOOT.into(),
        };
        let Some(directory) = &self.directory else {
            return Ok(built_in());
        };
        let compressed = directory.join("viewer.js.gz");
        if !compressed.is_file() {
            return Ok(built_in());
        }
        Ok(StaticPage {
            html: read(&directory.join("page.html"))?,
            viewer: std::fs::read(&compressed).map_err(|e| Error::io(&compressed, e))?,
            boot: read(&directory.join("boot.js"))?,
        })
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| Error::io(path, e))
}

fn script(program: &str) -> String {
    if program.is_empty() {
        return String::new();
    }
    format!("<script>{program}</script>")
}

/// Fills in the placeholders of a page.
pub(crate) fn compose(page: &str, scene: &str, script: &str) -> String {
    // Placeholders inside the inserted parts, such as the viewer's own text, are left alone.
    let mut composed = String::with_capacity(page.len() + scene.len() + script.len());
    let mut rest = page;
    for (mark, part) in [(STATIC_MARK, scene), (SCRIPT_MARK, script)] {
        if let Some((before, after)) = rest.split_once(mark) {
            composed.push_str(before);
            composed.push_str(part);
            rest = after;
        }
    }
    composed.push_str(rest);
    composed
}

/// Returns whether the viewer was built into this crate.
pub(crate) fn has_built_in_viewer() -> bool {
    !BUILT_IN_VIEWER.is_empty()
}

const BUILT_IN_PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/dist/page.html"));
const BUILT_IN_VIEWER: &str = include_str!(concat!(env!("OUT_DIR"), "/dist/viewer.js"));
const BUILT_IN_VIEWER_GZ: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/dist/viewer.js.gz"));
const BUILT_IN_BOOT: &str = include_str!(concat!(env!("OUT_DIR"), "/dist/boot.js"));
