//! Pages that contain the scene and need no server.

use super::asset::{Asset, PREFIX};
use super::batch::{Encoding, Envelope, replay};
use super::server::{Shared, compose};
use crate::{Error, ErrorKind, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

/// The scene and the files that it refers to.
struct Snapshot {
    /// Messages with their lengths, compressed by deflate.
    commands: Vec<u8>,
    assets: BTreeMap<String, Arc<Asset>>,
}

fn snapshot(shared: &Shared) -> Result<Snapshot> {
    let mut scene = shared.scene();
    scene.settle();
    let messages = replay(&scene, Encoding::Standard, Envelope::Length);
    let mut assets = BTreeMap::new();
    for (_, node) in scene.in_tree_order() {
        let objects = node.object.iter().flat_map(|o| &o.value.assets);
        let properties = node.properties.iter().flat_map(|(_, p)| &p.value.asset);
        for asset in objects.chain(properties) {
            assets.insert(asset.key().to_owned(), asset.clone());
        }
    }
    drop(scene);
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(3));
    for part in messages {
        encoder.write_all(&part).map_err(broken)?;
    }
    let commands = encoder.finish().map_err(broken)?;
    Ok(Snapshot { commands, assets })
}

fn broken(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, "Meshcat: the scene cannot be compressed").with_cause(error)
}

/// Returns a page that contains the scene, its files and the viewer.
///
/// # Errors
/// Returns an error if there is no viewer.
pub(crate) fn html(shared: &Shared) -> Result<String> {
    let Snapshot { commands, assets } = snapshot(shared)?;
    page(shared, &commands, Some(&assets))
}

/// Returns a zip archive with a page and, next to it, the files that it refers to.
///
/// # Errors
/// Returns an error if there is no viewer.
pub(crate) fn zip(shared: &Shared) -> Result<Vec<u8>> {
    let Snapshot { commands, assets } = snapshot(shared)?;
    let page = page(shared, &commands, None)?;
    let broken = |e: zip::result::ZipError| {
        Error::new(ErrorKind::Io, "Meshcat: the archive cannot be created").with_cause(e)
    };
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    let files = assets.values().map(|a| (a.url(), &a.content[..]));
    for (name, content) in std::iter::once(("meshcat.html".into(), page.as_bytes())).chain(files) {
        archive.start_file(name, options).map_err(broken)?;
        archive.write_all(content).map_err(|e| broken(e.into()))?;
    }
    Ok(archive.finish().map_err(broken)?.into_inner())
}

fn page(
    shared: &Shared,
    commands: &[u8],
    assets: Option<&BTreeMap<String, Arc<Asset>>>,
) -> Result<String> {
    let parts = shared.page.static_page()?;
    if parts.viewer.is_empty() || parts.boot.is_empty() {
        return Err(Error::invalid(
            "Meshcat: a static page needs the viewer, which was not built with this program; install \
             Node.js 20 or newer and build again, or name the directory of a built viewer in \
             TARRAGON_VIEWER",
        ));
    }
    // Base64 and hexadecimal digits need no quoting in JSON or HTML.
    let mut scene = format!(
        "<script type=\"application/json\" id=\"tarragon-static\">{{\"commands\":\"{}\"",
        BASE64.encode(commands)
    );
    if let Some(assets) = assets {
        scene.push_str(",\"assets\":{");
        for (i, (key, asset)) in assets.iter().enumerate() {
            scene.push_str(if i == 0 { "\"" } else { ",\"" });
            scene.push_str(key);
            scene.push_str("\":\"");
            BASE64.encode_string(&asset.content, &mut scene);
            scene.push('"');
        }
        scene.push('}');
    } else {
        scene.push_str(&format!(",\"asset_prefix\":\"{PREFIX}\""));
    }
    scene.push_str("}</script>");
    let script = format!(
        "<script type=\"text/plain\" id=\"tarragon-viewer\">{}</script><script>{}</script>",
        BASE64.encode(&parts.viewer),
        parts.boot
    );
    Ok(compose(&parts.html, &scene, &script))
}
