//! Where another engine is: an address of this machine or of the person's own network, checked when it is read and again when it is used.
//!
//! The rule: nothing is sent to a public address. A number that is public is refused here; a name can only be judged by what it resolves to, so the
//! connection goes to private addresses alone and is refused where there is none. Plain HTTP is further kept to numbers and names that cannot mean
//! a host elsewhere.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use thiserror::Error;
use url::{Host, Url};

/// Endings of names that are never given out in the public name system.
const LOCAL_ENDINGS: [&str; 5] = [".local", ".lan", ".internal", ".home.arpa", ".localhost"];

/// The address of another engine: scheme, host, port and the path in front of `/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineAddress {
    encryption: Encryption,
    host: Host<String>,
    port: u16,
    /// Empty, or with a slash in front and none at the end.
    path: String,
}

/// Whether a connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encryption {
    Plain,
    Tls,
}

/// Why a text is not the address of an engine that prompts may go to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AddressError {
    #[error("'{text}' is not an address; write it as http://HOST:PORT or https://HOST:PORT")]
    Unreadable { text: String },
    #[error("'{scheme}' is not a way to reach an engine; use http or https")]
    Scheme { scheme: String },
    /// A user's name, a password, a query or a fragment.
    #[error(
        "the address of an engine is scheme, host, port and path only; leave out {part} (a key belongs into the system's keyring)"
    )]
    Extra { part: &'static str },
    #[error("{host} is a public address; prompts go to this machine or to your own network only")]
    Public { host: String },
    #[error("plain http is for this machine and for addresses of your own network; use https for {host}")]
    PlainToName { host: String },
}

impl EngineAddress {
    /// Returns host and port, as they are shown wherever it is said where prompts go.
    pub fn host_and_port(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Returns whether the engine is on this very machine, as far as the address says.
    pub fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(ip) => ip.is_loopback(),
            Host::Ipv6(ip) => ip.is_loopback(),
        }
    }

    pub(crate) fn encryption(&self) -> Encryption {
        self.encryption
    }

    /// Returns the host as a resolver takes it: without the brackets of an IPv6 address.
    pub(crate) fn host(&self) -> String {
        match &self.host {
            Host::Domain(name) => name.clone(),
            Host::Ipv4(ip) => ip.to_string(),
            Host::Ipv6(ip) => ip.to_string(),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the path of something that the server offers.
    pub(crate) fn path_of(&self, offered: &str) -> String {
        format!("{}{offered}", self.path)
    }
}

impl FromStr for EngineAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let unreadable = || AddressError::Unreadable { text: shown(text) };
        let url = Url::parse(text.trim()).map_err(|_| unreadable())?;
        let encryption = match url.scheme() {
            "http" => Encryption::Plain,
            "https" => Encryption::Tls,
            // `localhost:8080` reads as a scheme with a path behind it.
            scheme if url.cannot_be_a_base() || url.host().is_none() => {
                debug_assert!(!scheme.is_empty());
                return Err(unreadable());
            }
            other => {
                return Err(AddressError::Scheme {
                    scheme: other.to_owned(),
                });
            }
        };
        let extras = [
            (
                "the user's name and password",
                !url.username().is_empty() || url.password().is_some(),
            ),
            ("the query", url.query().is_some()),
            ("the fragment", url.fragment().is_some()),
        ];
        if let Some((part, _)) = extras.into_iter().find(|(_, there)| *there) {
            return Err(AddressError::Extra { part });
        }
        let host = url.host().ok_or_else(unreadable)?.to_owned();
        let port = url.port_or_known_default().ok_or_else(unreadable)?;
        check_host(&host, encryption)?;
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/v1").unwrap_or(path).trim_end_matches('/');
        Ok(Self {
            encryption,
            host,
            port,
            path: path.to_owned(),
        })
    }
}

impl fmt::Display for EngineAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.encryption {
            Encryption::Plain => "http",
            Encryption::Tls => "https",
        };
        write!(f, "{scheme}://{}:{}{}", self.host, self.port, self.path)
    }
}

/// Returns whether an address is of this machine or of a private network: loopback, RFC 1918, unique local, link-local.
pub(crate) fn is_private(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_private_v4(ip),
        IpAddr::V6(ip) => is_private_v6(ip),
    }
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    ip.is_loopback() || ip.is_private() || ip.is_link_local()
}

fn is_private_v6(ip: Ipv6Addr) -> bool {
    ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local()
}

fn check_host(host: &Host<String>, encryption: Encryption) -> Result<(), AddressError> {
    let number: IpAddr = match host {
        Host::Ipv4(ip) => (*ip).into(),
        Host::Ipv6(ip) => (*ip).into(),
        Host::Domain(name) => {
            return match encryption {
                Encryption::Plain if !is_local_name(name) => Err(AddressError::PlainToName { host: name.clone() }),
                Encryption::Plain | Encryption::Tls => Ok(()),
            };
        }
    };
    if is_private(number) {
        Ok(())
    } else {
        Err(AddressError::Public { host: host.to_string() })
    }
}

fn is_local_name(name: &str) -> bool {
    !name.contains('.') || LOCAL_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns the begin of a text that is quoted back to whoever wrote it, without what may be a password.
fn shown(text: &str) -> String {
    let text = text.trim();
    let safe = text.rsplit_once('@').map_or(text, |(_, behind)| behind);
    safe.chars().filter(|c| !c.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match text.parse::<EngineAddress>() {
            Ok(address) => address.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn addresses_of_this_machine_and_of_private_networks_are_read() {
        for (text, expected) in [
            ("http://localhost:8080", "http://localhost:8080"),
            (" http://127.0.0.1:8080/v1/ ", "http://127.0.0.1:8080"),
            ("http://127.1:8080/v1", "http://127.0.0.1:8080"),
            ("http://[::1]:1234/", "http://[::1]:1234"),
            ("http://[::ffff:10.0.0.7]:1", "http://[::ffff:a00:7]:1"),
            ("http://192.168.3.4", "http://192.168.3.4:80"),
            ("http://[fd00::2]:8000", "http://[fd00::2]:8000"),
            ("http://169.254.1.1:8000", "http://169.254.1.1:8000"),
            ("http://gpu:8000", "http://gpu:8000"),
            ("http://GPU.lan:8000/llm/v1", "http://gpu.lan:8000/llm"),
            ("https://models.example.com/", "https://models.example.com:443"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_may_leave_the_own_network_is_refused() {
        for (text, expected) in [
            (
                "http://8.8.8.8",
                "8.8.8.8 is a public address; prompts go to this machine or to your own network only",
            ),
            (
                "https://8.8.8.8",
                "8.8.8.8 is a public address; prompts go to this machine or to your own network only",
            ),
            (
                "http://0x08080808",
                "8.8.8.8 is a public address; prompts go to this machine or to your own network only",
            ),
            (
                "https://[2001:db8::1]:8000",
                "[2001:db8::1] is a public address; prompts go to this machine or to your own network only",
            ),
            (
                "http://172.32.0.1",
                "172.32.0.1 is a public address; prompts go to this machine or to your own network only",
            ),
            (
                "http://0.0.0.0:8080",
                "0.0.0.0 is a public address; prompts go to this machine or to your own network only",
            ),
            (
                "http://models.example.com",
                "plain http is for this machine and for addresses of your own network; use https for models.example.com",
            ),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_of_an_engine_is_said() {
        for (text, expected) in [
            (
                "",
                "'' is not an address; write it as http://HOST:PORT or https://HOST:PORT",
            ),
            (
                "gpu",
                "'gpu' is not an address; write it as http://HOST:PORT or https://HOST:PORT",
            ),
            (
                "localhost:8080",
                "'localhost:8080' is not an address; write it as http://HOST:PORT or https://HOST:PORT",
            ),
            ("ftp://gpu/", "'ftp' is not a way to reach an engine; use http or https"),
            (
                "http://gpu?key=1",
                "the address of an engine is scheme, host, port and path only; leave out the query (a key belongs into the system's keyring)",
            ),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let with_password = read("https://me:secret@gpu.lan");
        assert!(
            !with_password.contains("secret") && with_password.contains("password"),
            "{with_password}"
        );
        assert!(!read("gpu me:secret@gpu").contains("secret"));
    }
}
