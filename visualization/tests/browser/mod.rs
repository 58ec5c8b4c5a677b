//! Our page with our server, in a real browser.
//!
//! The tests need Chromium and a viewer (Node.js when this crate is built, or `TARRAGON_VIEWER`).
//! If one is missing, they report it and pass. `TARRAGON_SCREENSHOTS` names a directory for
//! screenshots.

pub(crate) mod chromium;
mod controls;
mod deformable;
mod objects;
mod peers;
mod static_pages;

use chromium::Tab;
use tarragon_sensors::ImageRgba8U;
use tarragon_visualization::Meshcat;

/// Returns a server and a page that shows its scene; reports and returns `None` if that is
/// impossible.
fn page() -> Option<(Meshcat, Tab)> {
    if !can_run() {
        return None;
    }
    let meshcat = crate::support::server();
    let tab = open(&meshcat);
    Some((meshcat, tab))
}

/// Returns whether there are a browser and a viewer.
pub(crate) fn can_run() -> bool {
    if !chromium::is_available() {
        return false;
    }
    if crate::support::server().static_html().is_err() {
        crate::support::skip(
            "no viewer page (install Node.js and build again, or set TARRAGON_VIEWER)",
        );
        return false;
    }
    true
}

/// Opens the server's page without its controls.
fn open(meshcat: &Meshcat) -> Tab {
    let mut tab = Tab::open(&format!("{}/?controls=off", meshcat.web_url()));
    tab.wait("window.tarragon.connected");
    tab
}

/// Waits until a page shows everything that was set.
fn settle(meshcat: &Meshcat, tab: &mut Tab) {
    // A new path, which comes after everything else.
    let mark = format!("/Settled/{}", tab.eval("performance.now()"));
    meshcat.set_transform(&mark, &nalgebra::Isometry3::identity());
    tab.wait(&format!(
        "window.tarragon.node('{mark}') && window.tarragon.loading === 0"
    ));
    tab.eval("window.tarragon.renderNow()");
}

/// Returns the share of pixels for which `test` is true.
fn share(image: &ImageRgba8U, test: impl Fn([u8; 4]) -> bool) -> f64 {
    let (pixels, _) = image.data().as_chunks::<4>();
    let found = pixels.iter().filter(|p| test(**p)).count();
    found as f64 / pixels.len() as f64
}
