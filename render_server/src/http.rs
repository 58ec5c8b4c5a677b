//! HTTP: requests and responses.

use crate::draw::{ImageFile, draw};
use crate::form::{Form, too_large};
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::stats::add;
use bytes::Bytes;
use http_body_util::{BodyDataStream, BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Maximum size of a body that is received although it is not wanted (bytes).
const MOST_DISCARDED: u64 = 1 << 30;
/// Time limit for receiving what is not wanted.
const DISCARD_TIME: Duration = Duration::from_secs(5);

type Reply = Response<Full<Bytes>>;

/// Answers a request, whatever it is.
pub(crate) async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let answered = match route(&shared, &request) {
        Ok(Route::Render) => render(&shared, request).await.map(image),
        Ok(Route::About) => Ok(plain(StatusCode::OK, shared.about())),
        Err(refusal) => {
            discard(request.into_body()).await;
            Err(refusal)
        }
    };
    Ok(answered.unwrap_or_else(|refusal| {
        add(&shared.counters.refused, 1);
        tracing::warn!("refused a request: {} {}", refusal.status, refusal.message);
        plain(refusal.status, refusal.message)
    }))
}

enum Route {
    Render,
    About,
}

fn route(shared: &Shared, request: &Request<Incoming>) -> Result<Route, Refusal> {
    if shared.is_stopping.load(Ordering::Acquire) {
        let what = "the server is shutting down; start it again";
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, what));
    }
    // Programs send no origin; a page of any site could make the browser post here.
    if let Some(origin) = request.headers().get(header::ORIGIN) {
        let origin: String = String::from_utf8_lossy(origin.as_bytes())
            .chars()
            .take(100)
            .collect();
        return Err(Refusal::new(
            StatusCode::FORBIDDEN,
            format!(
                "the request must not come from a web page, got the origin '{}'",
                origin.escape_debug()
            ),
        ));
    }
    let path = request.uri().path().trim_start_matches('/');
    let endpoint = shared.params.endpoint.trim_matches('/');
    if path.trim_end_matches('/') == endpoint {
        return match *request.method() {
            Method::POST => Ok(Route::Render),
            ref other => Err(Refusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                format!("the method of /{endpoint} must be POST, got {other}"),
            )),
        };
    }
    if path.is_empty() && request.method() == Method::GET {
        return Ok(Route::About);
    }
    let path: String = path.chars().take(100).collect();
    Err(Refusal::new(
        StatusCode::NOT_FOUND,
        format!(
            "the path must be /{endpoint}, got '/{}'; set render_endpoint of the client to \
             '{endpoint}'",
            path.escape_debug()
        ),
    ))
}

async fn render(shared: &Arc<Shared>, request: Request<Incoming>) -> Result<ImageFile, Refusal> {
    let limit = shared.params.max_request_bytes as u64;
    let content_type = request.headers().get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|t| t.to_str().ok()).unwrap_or("none");
    let boundary = multer::parse_boundary(content_type).map_err(|_| {
        let found: String = content_type.chars().take(100).collect();
        Refusal::bad(format!(
            "the content type must be multipart/form-data with a boundary, got '{}'",
            found.escape_debug()
        ))
    })?;
    let size = request.body().size_hint();
    if size.lower() > limit {
        discard(request.into_body()).await;
        return Err(too_large(limit));
    }
    // Memory for bodies is bounded however many clients there are.
    let most = size.upper().unwrap_or(limit).min(limit);
    let units = shared.body_units(most);
    let bodies = shared.bodies.clone().acquire_many_owned(units).await;
    let stopped = || Refusal::failed("the server has stopped");
    let _body = bodies.map_err(|_| stopped())?;
    let stream = BodyDataStream::new(request.into_body());
    let time = shared.params.request_time;
    let form = tokio::time::timeout(time, Form::read(stream, boundary, limit)).await;
    let form = form.map_err(|_| {
        Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the request must arrive within {time:?}; it took longer"),
        )
    })??;
    add(&shared.counters.received_bytes, form.bytes() as u64);

    let worker = shared.workers.clone().acquire_owned().await;
    let worker = worker.map_err(|_| stopped())?;
    let shared = shared.clone();
    let work = tokio::task::spawn_blocking(move || {
        let _worker = worker;
        let params = &shared.params;
        let request = form.into_request(params.max_pixels)?;
        draw(
            request,
            &shared.keeper,
            params.max_triangles,
            &shared.counters,
        )
    });
    work.await
        .unwrap_or_else(|e| Err(Refusal::failed(format!("drawing failed: {e}"))))
}

/// Receives a body and forgets it: a client that has not sent
/// everything would not read why its request is refused.
async fn discard(mut body: Incoming) {
    let receive = async {
        let mut received = 0;
        while let Some(Ok(frame)) = body.frame().await {
            received += frame.data_ref().map_or(0, |data| data.len() as u64);
            if received > MOST_DISCARDED {
                return;
            }
        }
    };
    // A client that is too slow is not waited for.
    let _ = tokio::time::timeout(DISCARD_TIME, receive).await;
}

fn image(file: ImageFile) -> Reply {
    reply(StatusCode::OK, file.media_type, file.content)
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Reply {
    reply(status, "text/plain; charset=utf-8", text.into())
}

fn reply(status: StatusCode, kind: &'static str, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    let headers: [(HeaderName, &'static str); 3] = [
        (header::CONTENT_TYPE, kind),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in headers {
        reply
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    reply
}
