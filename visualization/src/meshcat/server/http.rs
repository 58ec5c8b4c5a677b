//! HTTP: the page, assets, and the upgrade to websockets.

use super::patient::Patient;
use super::{Counted, Shared, client, origin};
use crate::meshcat::batch::Encoding;
use crate::meshcat::{asset, static_page};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, watch};

/// Number of connections for HTTP requests, in addition to those of connected pages.
const SPARE_CONNECTIONS: usize = 256;
/// Time limit for receiving a request.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Time limit for a client to take a part of an answer, and for a static page to wait until others
/// are finished.
const ANSWER_TIME: Duration = Duration::from_secs(30);

type Reply = Response<Full<Bytes>>;

/// Accepts connections for as long as the server runs.
pub(super) async fn accept(
    shared: &Arc<Shared>,
    listener: TcpListener,
    stopped: watch::Receiver<bool>,
) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, or a connection that ended before it was accepted.
                tracing::debug!("Meshcat could not accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let limit = shared
            .params
            .max_connections
            .saturating_add(SPARE_CONNECTIONS);
        let pages = shared.pages.load(Ordering::Relaxed);
        if shared.connections.load(Ordering::Relaxed) + pages >= limit {
            tracing::debug!("Meshcat refused a connection: the limit of {limit} is reached");
            continue;
        }
        // Poses are small and must not be delayed.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("no TCP_NODELAY: {error}");
        }
        let counted = Counted::new(&shared.connections);
        let (shared, stopped) = (shared.clone(), stopped.clone());
        tokio::spawn(async move {
            let service = service_fn(|request| answer(shared.clone(), stopped.clone(), request));
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_TIME)
                .max_buf_size(16 << 10)
                .serve_connection(TokioIo::new(Patient::new(stream, ANSWER_TIME)), service)
                .with_upgrades();
            if let Err(error) = connection.await {
                tracing::debug!("an HTTP connection ended: {error}");
            }
            drop(counted);
        });
    }
}

async fn answer(
    shared: Arc<Shared>,
    stopped: watch::Receiver<bool>,
    mut request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let host = text(request.headers(), header::HOST).map(str::to_owned);
    let url = &shared.web_url();
    if !origin::is_host_allowed(&shared.params, url, host.as_deref()) {
        let name = host.unwrap_or_default();
        let name: String = name.escape_debug().take(100).collect();
        return Ok(plain(
            StatusCode::FORBIDDEN,
            format!(
                "This server answers to the names of its own machine only, got '{name}'. \
                 Name the host in MeshcatParams::host or web_url_pattern.\n"
            ),
        ));
    }
    if is_upgrade(request.headers()) {
        return Ok(upgrade(shared, stopped, &mut request, host.as_deref()));
    }
    if request.method() != Method::GET {
        return Ok(not_found());
    }
    Ok(match request.uri().path() {
        "/download" => download(shared).await,
        path => get(&shared, path),
    })
}

fn get(shared: &Shared, path: &str) -> Reply {
    match path {
        "/" | "/index.html" | "/meshcat.html" => match shared.page.live() {
            Ok(page) => html(page.into()),
            Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
        },
        "/favicon.ico" => reply(StatusCode::OK, "image/svg+xml", ICON.into()),
        _ => {
            let path = path.trim_start_matches('/');
            if let Some(key) = path.strip_prefix(asset::PREFIX) {
                return content(shared, key);
            }
            match shared.page.file(path) {
                Some((kind, bytes)) => no_cache(reply(StatusCode::OK, kind, bytes)),
                None => not_found(),
            }
        }
    }
}

/// Returns a static page. It takes long to build and is built on another thread, so that pages are
/// still served.
async fn download(shared: Arc<Shared>) -> Reply {
    let free = shared.downloads.clone().acquire_owned();
    let Ok(Ok(permit)) = tokio::time::timeout(ANSWER_TIME, free).await else {
        let what = "other downloads are in progress; try again later\n".to_owned();
        return plain(StatusCode::SERVICE_UNAVAILABLE, what);
    };
    let make = move || {
        let page = static_page::html(&shared)?;
        Ok(Download {
            page,
            _permit: permit,
        })
    };
    let made: Result<_, crate::Error> = match tokio::task::spawn_blocking(make).await {
        Ok(made) => made,
        Err(error) => Err(crate::Error::invalid(error.to_string())),
    };
    let page = match made {
        Ok(page) => Bytes::from_owner(page),
        Err(error) => return plain(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    };
    let mut reply = html(page);
    let name = HeaderValue::from_static("attachment; filename=\"meshcat.html\"");
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_DISPOSITION, name);
    reply
}

/// A static page, which holds its permit until the page was sent.
struct Download {
    page: String,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Download {
    fn as_ref(&self) -> &[u8] {
        self.page.as_bytes()
    }
}

/// Returns an asset by the hash of its content.
fn content(shared: &Shared, key: &str) -> Reply {
    if !asset::is_key(key) {
        let what = "the name of an asset must be 64 hexadecimal digits\n".to_owned();
        return plain(StatusCode::BAD_REQUEST, what);
    }
    let Some(asset) = shared.assets.get(key) else {
        return not_found();
    };
    let kind = "application/octet-stream";
    let mut reply = reply(StatusCode::OK, kind, asset.content.clone());
    let for_ever = HeaderValue::from_static("public, max-age=604800, immutable");
    reply.headers_mut().insert(header::CACHE_CONTROL, for_ever);
    reply
}

fn is_upgrade(headers: &HeaderMap) -> bool {
    text(headers, header::UPGRADE).is_some_and(|u| u.eq_ignore_ascii_case("websocket"))
}

/// Answers the opening handshake (RFC 6455, section 4.2) and then serves the page.
fn upgrade(
    shared: Arc<Shared>,
    stopped: watch::Receiver<bool>,
    request: &mut Request<Incoming>,
    host: Option<&str>,
) -> Reply {
    let headers = request.headers();
    let bad = |what: &str| plain(StatusCode::BAD_REQUEST, format!("websocket: {what}\n"));
    if request.method() != Method::GET {
        return bad("the request must be a GET request");
    }
    if text(headers, header::SEC_WEBSOCKET_VERSION) != Some("13") {
        let mut reply = bad("the websocket version must be 13");
        *reply.status_mut() = StatusCode::UPGRADE_REQUIRED;
        let version = HeaderValue::from_static("13");
        reply
            .headers_mut()
            .insert(header::SEC_WEBSOCKET_VERSION, version);
        return reply;
    }
    let Some(key) = text(headers, header::SEC_WEBSOCKET_KEY).filter(|k| k.len() == 24) else {
        return bad("the websocket key must have 16 bytes");
    };
    let from = text(headers, header::ORIGIN);
    if !origin::is_origin_allowed(&shared.params, &shared.web_url(), host, from) {
        let from: String = from.unwrap_or_default().escape_debug().take(100).collect();
        tracing::warn!("refused a page from the site '{from}'");
        return plain(
            StatusCode::FORBIDDEN,
            format!(
                "Pages from '{from}' may not connect; MeshcatParams::allowed_origins can allow them.\n"
            ),
        );
    }
    if shared.pages.load(Ordering::Relaxed) >= shared.params.max_connections {
        return plain(
            StatusCode::SERVICE_UNAVAILABLE,
            format!(
                "{} pages are connected already (MeshcatParams::max_connections).\n",
                shared.params.max_connections
            ),
        );
    }
    let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
    let batched = request
        .uri()
        .query()
        .is_some_and(|q| q.split('&').any(|p| p == "batch=1"));
    let encoding = if batched {
        Encoding::Batched
    } else {
        Encoding::Standard
    };
    let upgraded = hyper::upgrade::on(request);
    // Counted from now on: many pages may arrive before the first is answered.
    let counted = Counted::new(&shared.pages);
    tokio::spawn(async move {
        let _counted = counted;
        match upgraded.await.map(|u| u.downcast::<TokioIo<Patient>>()) {
            Ok(Ok(parts)) => {
                let stream = parts.io.into_inner().into_inner();
                client::serve(shared, stream, parts.read_buf, encoding, stopped).await;
            }
            Ok(Err(_)) => tracing::error!("an upgraded connection is not a TCP stream"),
            Err(error) => tracing::debug!("a page disconnected during the handshake: {error}"),
        }
    });
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = reply.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    if let Ok(accept) = HeaderValue::from_str(&accept) {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    }
    reply
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn reply(status: StatusCode, kind: &'static str, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    reply
}
fn no_cache(mut reply: Reply) -> Reply {
    let no_cache = HeaderValue::from_static("no-cache");
    reply.headers_mut().insert(header::CACHE_CONTROL, no_cache);
    reply
}
fn html(page: Bytes) -> Reply {
    no_cache(reply(StatusCode::OK, "text/html; charset=utf-8", page))
}
fn plain(status: StatusCode, text: String) -> Reply {
    no_cache(reply(status, "text/plain; charset=utf-8", text.into()))
}
fn not_found() -> Reply {
    plain(StatusCode::NOT_FOUND, "not found\n".into())
}

/// Favicon: a tarragon leaf.
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\">\
    <path d=\"M5 27C5 13 13 5 27 5C27 19 19 27 5 27Z\" fill=\"#4c9a5b\"/>\
    <path d=\"M4 28L20 12\" stroke=\"#f4f4ee\" stroke-width=\"2\"/></svg>";
