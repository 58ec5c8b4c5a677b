//! Headless Chromium, controlled by the DevTools protocol
//! (<https://chromedevtools.github.io/devtools-protocol/>).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tarragon_sensors::{ImageIo, ImageRgba8U};
use tungstenite::protocol::{Message, WebSocket};

/// Time limit for anything in the browser: software rendering on a loaded machine is slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A browser process, which ends when this value is dropped.
struct Chromium {
    process: Child,
    port: u16,
    path: String,
    _profile: tempfile::TempDir,
}

/// The browser of all open tabs: to start one takes a second of a core.
static SHARED: Mutex<Weak<Chromium>> = Mutex::new(Weak::new());

/// One tab of a browser, with a window, a store and a connection of its own.
pub(crate) struct Tab {
    socket: WebSocket<TcpStream>,
    next: u64,
    session: Option<String>,
    // Ends with its last tab.
    _browser: Arc<Chromium>,
}

fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("TARRAGON_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path)
        .flat_map(|dir| names.map(|name| dir.join(name)))
        .find(|p| p.is_file())
}

/// Returns whether the browser tests can run; reports it if they cannot.
pub(crate) fn is_available() -> bool {
    if program().is_none() {
        crate::support::skip("no chromium in PATH (install it, or name it in TARRAGON_CHROMIUM)");
        return false;
    }
    true
}

impl Chromium {
    fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let process = Command::new(program().expect("tests check that it exists"))
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
                "--use-gl=angle",
                "--use-angle=swiftshader",
                "--enable-unsafe-swiftshader",
                "--disable-renderer-backgrounding",
                "--disable-background-timer-throttling",
                "--disable-backgrounding-occluded-windows",
                "--window-size=400,300",
                "--remote-debugging-port=0",
                "about:blank",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The browser writes its port and the path of its websocket to this file.
        let file = profile.path().join("DevToolsActivePort");
        let start = Instant::now();
        let (port, path) = loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, path)) = text.split_once('\n')
                && path.starts_with('/')
            {
                break (port.parse::<u16>().unwrap(), path.to_owned());
            }
            assert!(start.elapsed() < PATIENCE, "the browser did not start");
            std::thread::sleep(Duration::from_millis(20));
        };
        Self {
            process,
            port,
            path,
            _profile: profile,
        }
    }

    /// Returns the browser of all open tabs; starts one if no tab is open.
    fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let browser = Arc::new(Self::start());
            *shared = Arc::downgrade(&browser);
            browser
        })
    }

    /// Returns a connection to this browser.
    fn connect(&self) -> WebSocket<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let config = tungstenite::protocol::WebSocketConfig::default()
            .max_message_size(None)
            .max_frame_size(None);
        let url = format!("ws://127.0.0.1:{}{}", self.port, self.path);
        let (socket, _) =
            tungstenite::client::client_with_config(url, stream, Some(config)).unwrap();
        socket
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Tab {
    /// Opens a tab with a URL.
    pub(crate) fn open(url: &str) -> Self {
        let mut tab = Self::blank();
        tab.navigate(url);
        tab
    }
    /// Opens a tab with a blank page.
    pub(crate) fn blank() -> Self {
        let browser = Chromium::shared();
        let mut tab = Self {
            socket: browser.connect(),
            next: 1,
            session: None,
            _browser: browser,
        };
        // The context ends with the connection, and the window with it.
        let context = tab.call(
            "Target.createBrowserContext",
            json!({"disposeOnDetach": true}),
        );
        let target = json!({
            "url": "about:blank", "browserContextId": context["browserContextId"], "newWindow": true
        });
        let target = tab.call("Target.createTarget", target);
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = tab.call("Target.attachToTarget", attach);
        tab.session = Some(session["sessionId"].as_str().unwrap().to_owned());
        tab.call("Page.enable", json!({}));
        let size = json!({"width": 800, "height": 600, "deviceScaleFactor": 1, "mobile": false});
        tab.call("Emulation.setDeviceMetricsOverride", size);
        tab
    }
    /// Calls a method and waits for its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut request = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        self.socket
            .send(Message::text(request.to_string()))
            .unwrap();
        loop {
            let Message::Text(text) = self.socket.read().unwrap() else {
                continue;
            };
            let answer: Value = serde_json::from_str(&text).unwrap();
            if answer["id"] == id {
                assert!(
                    answer.get("error").is_none(),
                    "{method}: {}",
                    answer["error"]
                );
                return answer["result"].clone();
            }
        }
    }
    pub(crate) fn navigate(&mut self, url: &str) {
        let result = self.call("Page.navigate", json!({"url": url}));
        assert!(result.get("errorText").is_none(), "{url}: {result}");
    }
    /// Evaluates a JavaScript expression and awaits its value.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true
        });
        let result = self.call("Runtime.evaluate", params);
        let failure = result.get("exceptionDetails");
        assert!(failure.is_none(), "{expression}: {failure:?}");
        result["result"]["value"].clone()
    }
    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, expression: &str) {
        let start = Instant::now();
        let guarded =
            format!("(() => {{ try {{ return !!({expression}); }} catch {{ return false; }} }})()");
        while self.eval(&guarded) != true {
            if start.elapsed() > PATIENCE {
                let errors = self.eval("window.tarragon ? window.tarragon.errors : 'no page'");
                panic!("never true: {expression}; errors on the page: {errors}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    /// Returns a screenshot of the tab.
    pub(crate) fn screenshot(&mut self) -> ImageRgba8U {
        let result = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let png = BASE64.decode(result["data"].as_str().unwrap()).unwrap();
        if let Some(dir) = std::env::var_os("TARRAGON_SCREENSHOTS") {
            let name = format!("{}.png", self.next);
            std::fs::write(Path::new(&dir).join(name), &png).unwrap();
        }
        ImageIo::default().load_from_buffer_as(&png).unwrap()
    }
    /// Presses and releases a key.
    pub(crate) fn press(&mut self, code: &str, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call(
                "Input.dispatchKeyEvent",
                json!({"type": kind, "code": code, "key": key}),
            );
        }
    }
    /// Clicks the middle of the element given by an expression.
    pub(crate) fn click(&mut self, element: &str) {
        let middle = format!(
            "(() => {{ const e = {element}; e.scrollIntoView({{block: 'nearest'}}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        );
        let at = self.eval(&middle);
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }
    /// Disconnects the tab from all networks.
    pub(crate) fn go_offline(&mut self) {
        self.call("Network.enable", json!({}));
        let nothing =
            json!({"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0});
        self.call("Network.emulateNetworkConditions", nothing);
    }
}
