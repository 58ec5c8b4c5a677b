//! LCM URLs: `provider://network?parameter=value&...`.

use crate::error::{Error, Result};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

/// Names the URL of a bus that is not told one.
pub(crate) const URL_VARIABLE: &str = "LCM_DEFAULT_URL";
const DEFAULT_GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(239, 255, 76, 67), 7667);
const DEFAULT_URL: &str = "udpm://239.255.76.67:7667?ttl=0";

/// What an LCM URL says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LcmUrl {
    /// UDP multicast.
    Udpm(UdpmUrl),
    /// A queue in this process.
    Memq,
    /// Nobody at all.
    MemqNull,
    /// A log file.
    File(FileUrl),
}

/// `udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4000000&interface=127.0.0.1`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UdpmUrl {
    /// The multicast group and its port.
    pub(crate) group: SocketAddrV4,
    /// How many networks messages may cross: 0 keeps them on this machine.
    pub(crate) ttl: u8,
    /// Bytes that the system keeps until they are read.
    pub(crate) recv_buf_size: Option<usize>,
    /// The address of the interface to send and listen on; None asks the routes. Not in liblcm.
    pub(crate) interface: Option<Ipv4Addr>,
}

/// What is done with a log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMode {
    /// Its events are received.
    Read,
    /// What is published replaces it.
    Write,
    /// What is published is added to it.
    Append,
}

/// `file:///home/me/robot.lcm?mode=r&speed=2&start_timestamp=1650000000000000`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileUrl {
    pub(crate) path: PathBuf,
    pub(crate) mode: FileMode,
    /// 1 is real time, 2 twice as fast; 0 does not wait.
    pub(crate) speed: f64,
    /// Events before it are left out (µs).
    pub(crate) start_timestamp: Option<i64>,
}

impl LcmUrl {
    /// The URL that `LCM_DEFAULT_URL` names, else Drake's: multicast that does not leave this
    /// machine.
    pub(crate) fn default_url() -> String {
        Self::default_url_from(std::env::var(URL_VARIABLE).ok())
    }
    fn default_url_from(variable: Option<String>) -> String {
        variable
            .filter(|url| !url.is_empty())
            .unwrap_or_else(|| DEFAULT_URL.into())
    }
    /// Reads a URL.
    ///
    /// # Errors
    /// Returns an error if the scheme, the address, a parameter or its value is not what is
    /// expected.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let wrong = |what: String| Error::invalid(format!("LCM URL '{url}': {what}"));
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(wrong(
                "no scheme is found, expected one like 'udpm://239.255.76.67:7667?ttl=0', 'memq://' or \
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
                "unknown scheme '{other}', expected 'udpm', 'memq' or 'file'"
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
                "parameter '{part}' has no value, expected '{part}=value'"
            ));
        };
        if found.iter().any(|(other, _)| *other == name) {
            return Err(format!(
                "parameter '{name}' is there twice, expected it once"
            ));
        }
        found.push((name, value));
    }
    Ok(found)
}

fn unknown(name: &str, expected: &str) -> String {
    format!("unknown parameter '{name}', expected {expected}")
}

fn value<V: std::str::FromStr>(parameter: Parameter<'_>, expected: &str) -> Result<V, String> {
    let (name, value) = parameter;
    value
        .parse()
        .map_err(|_| format!("parameter '{name}' is '{value}', expected {expected}"))
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
                    "0 (this machine only), 1 (this network), or a number up to 255",
                )?;
            }
            "recv_buf_size" => {
                let expected = "a number of bytes from 1 to 2147483647";
                let size: i32 = value(parameter, expected)?;
                let size = usize::try_from(size).ok().filter(|size| *size > 0);
                url.recv_buf_size = Some(size.ok_or_else(|| {
                    format!(
                        "parameter 'recv_buf_size' is '{}', expected {expected}",
                        parameter.1
                    )
                })?);
            }
            "interface" => {
                url.interface = Some(value(
                    parameter,
                    "the IPv4 address of an interface of this machine, as 127.0.0.1",
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
        format!("the address is '{address}', expected an IPv4 multicast address as 239.255.76.67")
    })?;
    if !group.is_multicast() {
        return Err(format!(
            "the address {group} is no multicast address, expected one from 224.0.0.0 to 239.255.255.255"
        ));
    }
    let port =
        match port {
            None => DEFAULT_GROUP.port(),
            Some(port) => port.parse().ok().filter(|port| *port > 0).ok_or_else(|| {
                format!("the port is '{port}', expected a number from 1 to 65535")
            })?,
        };
    Ok(SocketAddrV4::new(group, port))
}

fn memq(network: &str, parameters: &[Parameter<'_>]) -> Result<LcmUrl, String> {
    if let Some((name, _)) = parameters.first() {
        return Err(unknown(name, "none after 'memq://'"));
    }
    // As in Drake and liblcm, other names mean nothing: two queues of one name are two queues.
    Ok(match network {
        "null" => LcmUrl::MemqNull,
        _ => LcmUrl::Memq,
    })
}

fn file(network: &str, parameters: &[Parameter<'_>]) -> Result<FileUrl, String> {
    if network.is_empty() {
        return Err("no path is found, expected one as in 'file:///home/me/robot.lcm'".into());
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
                    "parameter 'mode' is '{other}', expected 'r' (play back), 'w' (write) or 'a' (append)"
                ));
            }
            ("speed", text) => {
                let expected = "0 (do not wait) or a positive factor, 1 for real time";
                url.speed = value(parameter, expected)?;
                if !(url.speed >= 0.0 && url.speed.is_finite()) {
                    return Err(format!(
                        "parameter 'speed' is '{text}', expected {expected}"
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
            "parameter '{name}' is about playing back, expected 'mode=r' or no '{name}'"
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
    fn what_is_left_out_has_defaults() {
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
            panic!("no file");
        };
        assert_eq!(url.path, PathBuf::from("/a/b.lcm"));
        assert_eq!(
            (url.mode, url.speed, url.start_timestamp),
            (FileMode::Read, 1.0, None)
        );
        let url = LcmUrl::parse("file://x?speed=0.5&start_timestamp=-7&mode=r").unwrap();
        let LcmUrl::File(url) = url else {
            panic!("no file");
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
    fn the_environment_names_the_default() {
        assert_eq!(LcmUrl::default_url_from(None), DEFAULT_URL);
        assert_eq!(LcmUrl::default_url_from(Some(String::new())), DEFAULT_URL);
        assert_eq!(LcmUrl::default_url_from(Some("memq://".into())), "memq://");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (url, what) in [
            ("", "no scheme is found, expected one like 'udpm://"),
            ("239.255.76.67:7667", "no scheme is found"),
            (
                "http://here",
                "unknown scheme 'http', expected 'udpm', 'memq' or 'file'",
            ),
            ("udpm://here:1", "the address is 'here', expected an IPv4"),
            ("udpm://:7667", "the address is '', expected"),
            (
                "udpm://10.0.0.1:7667",
                "the address 10.0.0.1 is no multicast address, expected one from 224.0.0.0 to 239.255.255.255",
            ),
            (
                "udpm://239.0.0.1:0",
                "the port is '0', expected a number from 1 to 65535",
            ),
            ("udpm://239.0.0.1:70000", "the port is '70000', expected"),
            ("udpm://239.0.0.1:1:2", "the port is '1:2', expected"),
            (
                "udpm://?ttl=300",
                "parameter 'ttl' is '300', expected 0 (this machine only)",
            ),
            ("udpm://?ttl=-1", "parameter 'ttl' is '-1'"),
            (
                "udpm://?ttl",
                "parameter 'ttl' has no value, expected 'ttl=value'",
            ),
            ("udpm://?ttl=0&ttl=1", "parameter 'ttl' is there twice"),
            (
                "udpm://?foo=1",
                "unknown parameter 'foo', expected 'ttl', 'recv_buf_size' or 'interface'",
            ),
            (
                "udpm://?recv_buf_size=0",
                "parameter 'recv_buf_size' is '0', expected a number of bytes",
            ),
            (
                "udpm://?recv_buf_size=3000000000",
                "expected a number of bytes from 1 to 2147483647",
            ),
            (
                "udpm://?interface=lo",
                "parameter 'interface' is 'lo', expected the IPv4 address",
            ),
            ("memq://?ttl=0", "unknown parameter 'ttl', expected none"),
            ("file://", "no path is found, expected one"),
            ("file://?mode=w", "no path is found"),
            (
                "file:///x?mode=rw",
                "parameter 'mode' is 'rw', expected 'r' (play back)",
            ),
            (
                "file:///x?speed=-1",
                "parameter 'speed' is '-1', expected 0 (do not wait)",
            ),
            ("file:///x?speed=nan", "parameter 'speed' is 'nan'"),
            (
                "file:///x?start_timestamp=1.5",
                "expected a whole number of microseconds",
            ),
            (
                "file:///x?mode=w&speed=2",
                "parameter 'speed' is about playing back, expected 'mode=r'",
            ),
            (
                "file:///x?loop=1",
                "unknown parameter 'loop', expected 'mode', 'speed'",
            ),
        ] {
            let error = LcmUrl::parse(url).unwrap_err().to_string();
            assert!(error.starts_with(&format!("LCM URL '{url}': ")), "{error}");
            assert!(error.contains(what), "{error}");
        }
    }
}
