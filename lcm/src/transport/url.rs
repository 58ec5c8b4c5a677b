//! LCM URLs: `provider://network?parameter=value&...`.

use crate::{Error, Result};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

/// Environment variable with the URL of buses that are created without one.
pub(crate) const URL_VARIABLE: &str = "LCM_DEFAULT_URL";
const DEFAULT_GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(239, 255, 76, 67), 7667);
const DEFAULT_URL: &str = "udpm://239.255.76.67:7667?ttl=0";

/// A parsed LCM URL.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LcmUrl {
    /// UDP multicast.
    Udpm(UdpmUrl),
    /// A queue in this process.
    Memq,
    /// Discards everything.
    MemqNull,
    /// A log file.
    File(FileUrl),
}

/// `udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4000000&interface=127.0.0.1`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UdpmUrl {
    /// The multicast group and its port.
    pub(crate) group: SocketAddrV4,
    /// Number of networks that messages may cross; 0 keeps them on this machine.
    pub(crate) ttl: u8,
    /// Size of the socket's receive buffer (bytes).
    pub(crate) recv_buf_size: Option<usize>,
    /// Address of the interface to send and receive on; None leaves the choice to the routing
    /// table. Not in liblcm.
    pub(crate) interface: Option<Ipv4Addr>,
}

/// Access mode of a log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMode {
    /// Plays its events.
    Read,
    /// Replaces its content by what is published.
    Write,
    /// Appends what is published.
    Append,
}

/// `file:///home/me/robot.lcm?mode=r&speed=2&start_timestamp=1650000000000000`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileUrl {
    pub(crate) path: PathBuf,
    pub(crate) mode: FileMode,
    /// Playback speed: 1 is real time, 2 twice as fast; 0 does not wait.
    pub(crate) speed: f64,
    /// Events before this timestamp (µs) are skipped.
    pub(crate) start_timestamp: Option<i64>,
}

impl LcmUrl {
    /// The URL in `LCM_DEFAULT_URL`, or else Drake's default: multicast that does not leave this
    /// machine.
    pub(crate) fn default_url() -> String {
        Self::default_url_from(std::env::var(URL_VARIABLE).ok())
    }
    fn default_url_from(variable: Option<String>) -> String {
        variable
            .filter(|url| !url.is_empty())
            .unwrap_or_else(|| DEFAULT_URL.into())
    }
    /// Parses a URL.
    ///
    /// # Errors
    /// Returns an error if the scheme, the address, a parameter or its value is invalid.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let wrong = |what: String| Error::invalid(format!("LCM URL '{url}': {what}"));
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(wrong(
                "the URL must have a scheme, as in 'udpm://239.255.76.67:7667?ttl=0', 'memq://' or \
                 'file:///path'"
                    .into(),
            ));
        };
        let (network, query) = match rest.split_once('?') {
            Some((network, query)) => (network, Some(query)),
            None => (rest, None),
        };
        let parameters = parameters(query).map_err(wrong)?;
        match scheme {
            "udpm" => udpm(network, &parameters).map(Self::Udpm),
            "memq" => memq(network, &parameters),
            "file" => file(network, &parameters).map(Self::File),
            other => Err(format!(
                "the scheme must be 'udpm', 'memq' or 'file', got '{other}'"
            )),
        }
        .map_err(wrong)
    }
}

type Parameter<'a> = (&'a str, &'a str);

fn parameters(query: Option<&str>) -> Result<Vec<Parameter<'_>>, String> {
    let mut found: Vec<Parameter<'_>> = Vec::new();
    for part in query.into_iter().flat_map(|query| query.split('&')) {
        if part.is_empty() {
            continue;
        }
        let Some((name, value)) = part.split_once('=') else {
            return Err(format!(
                "parameter '{part}' must have a value; write '{part}=value'"
            ));
        };
        if found.iter().any(|(other, _)| *other == name) {
            return Err(format!("parameter '{name}' must not be repeated"));
        }
        found.push((name, value));
    }
    Ok(found)
}

fn unknown(name: &str, expected: &str) -> String {
    format!("the parameter must be {expected}, got '{name}'")
}

fn value<V: std::str::FromStr>(parameter: Parameter<'_>, expected: &str) -> Result<V, String> {
    let (name, value) = parameter;
    value
        .parse()
        .map_err(|_| format!("parameter '{name}' must be {expected}, got '{value}'"))
}

fn udpm(network: &str, parameters: &[Parameter<'_>]) -> Result<UdpmUrl, String> {
    let mut url = UdpmUrl {
        group: group(network)?,
        ttl: 0,
        recv_buf_size: None,
        interface: None,
    };
    for &parameter in parameters {
        match parameter.0 {
            "ttl" => {
                url.ttl = value(
                    parameter,
                    "0 (this machine only), 1 (this network) or a number up to 255",
                )?;
            }
            "recv_buf_size" => {
                let expected = "a number of bytes from 1 to 2147483647";
                let size: i32 = value(parameter, expected)?;
                let size = usize::try_from(size).ok().filter(|size| *size > 0);
                url.recv_buf_size = Some(size.ok_or_else(|| {
                    format!(
                        "parameter 'recv_buf_size' must be {expected}, got '{}'",
                        parameter.1
                    )
                })?);
            }
            "interface" => {
                url.interface = Some(value(
                    parameter,
                    "the IPv4 address of an interface of this machine, such as 127.0.0.1",
                )?);
            }
            name => {
                return Err(unknown(name, "'ttl', 'recv_buf_size' or 'interface'"));
            }
        }
    }
    Ok(url)
}

fn group(network: &str) -> Result<SocketAddrV4, String> {
    if network.is_empty() {
        return Ok(DEFAULT_GROUP);
    }
    let (address, port) = match network.split_once(':') {
        Some((address, port)) => (address, Some(port)),
        None => (network, None),
    };
    let group: Ipv4Addr = address.parse().map_err(|_| {
        format!(
            "the address must be an IPv4 multicast address such as 239.255.76.67, got '{address}'"
        )
    })?;
    if !group.is_multicast() {
        return Err(format!(
            "the address must be a multicast address from 224.0.0.0 to 239.255.255.255, got {group}"
        ));
    }
    let port =
        match port {
            None => DEFAULT_GROUP.port(),
            Some(port) => port.parse().ok().filter(|port| *port > 0).ok_or_else(|| {
                format!("the port must be a number from 1 to 65535, got '{port}'")
            })?,
        };
    Ok(SocketAddrV4::new(group, port))
}

fn memq(network: &str, parameters: &[Parameter<'_>]) -> Result<LcmUrl, String> {
    if let Some((name, _)) = parameters.first() {
        return Err(unknown(name, "left out after 'memq://'"));
    }
    // As in Drake and liblcm, names have no meaning: two queues of the same name are separate
    // queues.
    Ok(match network {
        "null" => LcmUrl::MemqNull,
        _ => LcmUrl::Memq,
    })
}

fn file(network: &str, parameters: &[Parameter<'_>]) -> Result<FileUrl, String> {
    if network.is_empty() {
        return Err("the URL must have a path, as in 'file:///home/me/robot.lcm'".into());
    }
    let mut url = FileUrl {
        path: network.into(),
        mode: FileMode::Read,
        speed: 1.0,
        start_timestamp: None,
    };
    for &parameter in parameters {
        match parameter {
            ("mode", "r") => url.mode = FileMode::Read,
            ("mode", "w") => url.mode = FileMode::Write,
            ("mode", "a") => url.mode = FileMode::Append,
            ("mode", other) => {
                return Err(format!(
                    "parameter 'mode' must be 'r' (play back), 'w' (write) or 'a' (append), got '{other}'"
                ));
            }
            ("speed", text) => {
                let expected = "0 (do not wait) or a positive factor, 1 for real time";
                url.speed = value(parameter, expected)?;
                if !(url.speed >= 0.0 && url.speed.is_finite()) {
                    return Err(format!(
                        "parameter 'speed' must be {expected}, got '{text}'"
                    ));
                }
            }
            ("start_timestamp", _) => {
                url.start_timestamp = Some(value(parameter, "a whole number of microseconds")?);
            }
            (name, _) => return Err(unknown(name, "'mode', 'speed' or 'start_timestamp'")),
        }
    }
    let only_read = ["speed", "start_timestamp"];
    let of_reading = parameters
        .iter()
        .find(|(name, _)| only_read.contains(name))
        .filter(|_| url.mode != FileMode::Read);
    match of_reading {
        Some((name, _)) => Err(format!(
            "parameter '{name}' applies to playback only; use 'mode=r' or leave out '{name}'"
        )),
        None => Ok(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udpm_url(text: &str) -> UdpmUrl {
        match LcmUrl::parse(text).unwrap() {
            LcmUrl::Udpm(url) => url,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn omitted_parts_have_defaults() {
        let url = udpm_url("udpm://");
        assert_eq!(url, udpm_url(DEFAULT_URL));
        assert_eq!(url, udpm_url("udpm://239.255.76.67?"));
        assert_eq!(
            (url.group, url.ttl, url.recv_buf_size, url.interface),
            (DEFAULT_GROUP, 0, None, None)
        );
        let url = udpm_url("udpm://224.0.0.9:9?ttl=3&recv_buf_size=10&interface=127.0.0.1");
        assert_eq!(url.group, "224.0.0.9:9".parse().unwrap());
        assert_eq!((url.ttl, url.recv_buf_size), (3, Some(10)));
        assert_eq!(url.interface, Some(Ipv4Addr::LOCALHOST));
        assert_eq!(LcmUrl::parse("memq://").unwrap(), LcmUrl::Memq);
        assert_eq!(LcmUrl::parse("memq://driver").unwrap(), LcmUrl::Memq);
        assert_eq!(LcmUrl::parse("memq://null").unwrap(), LcmUrl::MemqNull);
        let LcmUrl::File(url) = LcmUrl::parse("file:///a/b.lcm").unwrap() else {
            panic!("not a file");
        };
        assert_eq!(url.path, PathBuf::from("/a/b.lcm"));
        assert_eq!(
            (url.mode, url.speed, url.start_timestamp),
            (FileMode::Read, 1.0, None)
        );
        let url = LcmUrl::parse("file://x?speed=0.5&start_timestamp=-7&mode=r").unwrap();
        let LcmUrl::File(url) = url else {
            panic!("not a file");
        };
        assert_eq!((url.speed, url.start_timestamp), (0.5, Some(-7)));
        assert!(matches!(
            LcmUrl::parse("file://x?mode=a").unwrap(),
            LcmUrl::File(FileUrl {
                mode: FileMode::Append,
                ..
            })
        ));
    }

    #[test]
    fn the_environment_sets_the_default() {
        assert_eq!(LcmUrl::default_url_from(None), DEFAULT_URL);
        assert_eq!(LcmUrl::default_url_from(Some(String::new())), DEFAULT_URL);
        assert_eq!(LcmUrl::default_url_from(Some("memq://".into())), "memq://");
    }

    #[test]
    fn errors_name_the_invalid_part() {
        for (url, what) in [
            ("", "the URL must have a scheme, as in 'udpm://"),
            ("239.255.76.67:7667", "the URL must have a scheme"),
            (
                "http://here",
                "the scheme must be 'udpm', 'memq' or 'file', got 'http'",
            ),
            ("udpm://here:1", "such as 239.255.76.67, got 'here'"),
            ("udpm://:7667", "such as 239.255.76.67, got ''"),
            (
                "udpm://10.0.0.1:7667",
                "the address must be a multicast address from 224.0.0.0 to 239.255.255.255, got 10.0.0.1",
            ),
            (
                "udpm://239.0.0.1:0",
                "the port must be a number from 1 to 65535, got '0'",
            ),
            ("udpm://239.0.0.1:70000", "from 1 to 65535, got '70000'"),
            ("udpm://239.0.0.1:1:2", "from 1 to 65535, got '1:2'"),
            (
                "udpm://?ttl=300",
                "parameter 'ttl' must be 0 (this machine only), 1 (this network) or a number up to 255, got '300'",
            ),
            ("udpm://?ttl=-1", "a number up to 255, got '-1'"),
            (
                "udpm://?ttl",
                "parameter 'ttl' must have a value; write 'ttl=value'",
            ),
            (
                "udpm://?ttl=0&ttl=1",
                "parameter 'ttl' must not be repeated",
            ),
            (
                "udpm://?foo=1",
                "the parameter must be 'ttl', 'recv_buf_size' or 'interface', got 'foo'",
            ),
            (
                "udpm://?recv_buf_size=0",
                "parameter 'recv_buf_size' must be a number of bytes from 1 to 2147483647, got '0'",
            ),
            (
                "udpm://?recv_buf_size=3000000000",
                "must be a number of bytes from 1 to 2147483647",
            ),
            (
                "udpm://?interface=lo",
                "parameter 'interface' must be the IPv4 address of an interface of this machine, such as 127.0.0.1, got 'lo'",
            ),
            (
                "memq://?ttl=0",
                "the parameter must be left out after 'memq://', got 'ttl'",
            ),
            ("file://", "the URL must have a path, as in"),
            ("file://?mode=w", "the URL must have a path"),
            (
                "file:///x?mode=rw",
                "parameter 'mode' must be 'r' (play back), 'w' (write) or 'a' (append), got 'rw'",
            ),
            (
                "file:///x?speed=-1",
                "parameter 'speed' must be 0 (do not wait) or a positive factor, 1 for real time, got '-1'",
            ),
            ("file:///x?speed=nan", "1 for real time, got 'nan'"),
            (
                "file:///x?start_timestamp=1.5",
                "must be a whole number of microseconds",
            ),
            (
                "file:///x?mode=w&speed=2",
                "parameter 'speed' applies to playback only; use 'mode=r'",
            ),
            (
                "file:///x?loop=1",
                "the parameter must be 'mode', 'speed' or 'start_timestamp', got 'loop'",
            ),
        ] {
            let error = LcmUrl::parse(url).unwrap_err().to_string();
            assert!(error.starts_with(&format!("LCM URL '{url}': ")), "{error}");
            assert!(error.contains(what), "{error}");
        }
    }
}
