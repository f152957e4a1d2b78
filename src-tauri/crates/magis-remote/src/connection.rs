//! One connection to the engine: the name is resolved, private addresses alone are used, and with https the certificate is checked.
//!
//! There is no proxy and no redirect here, because nothing would know of one: a connection is opened to one address, used for one request,
//! and closed when the request is dropped.

use crate::EngineAddress;
use crate::address::{self, Encryption};
use crate::trouble::Trouble;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Which certificate authorities are believed.
#[derive(Clone)]
pub(crate) struct Trust(Option<TlsConnector>);

/// An open connection. Dropping it closes it.
pub(crate) struct Connection {
    pub sender: SendRequest<Full<Bytes>>,
    /// What moves the bytes.
    driver: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Trust {
    /// Reads the authorities of the system, or those of a file in PEM form; nothing where the connection is not encrypted. Blocks.
    ///
    /// # Errors
    /// When the file, or the system's store, holds no certificate that can be read.
    pub fn load(address: &EngineAddress, authorities: Option<&Path>) -> Result<Self, Trouble> {
        if address.encryption() == Encryption::Plain {
            return Ok(Self(None));
        }
        let mut roots = RootCertStore::empty();
        match authorities {
            Some(file) => {
                let unreadable = |why: &dyn std::fmt::Display| {
                    Trouble::Tls(format!("its authority's file {} cannot be read: {why}", file.display()))
                };
                for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))? {
                    let certificate = certificate.map_err(|error| unreadable(&error))?;
                    roots.add(certificate).map_err(|error| unreadable(&error))?;
                }
                if roots.is_empty() {
                    return Err(unreadable(&"it holds no certificate"));
                }
            }
            None => {
                // Single certificates that cannot be read are those of others.
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                if roots.is_empty() {
                    return Err(Trouble::Tls("the system has no certificate authorities".to_owned()));
                }
            }
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| Trouble::Tls(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(Some(TlsConnector::from(Arc::new(config)))))
    }
}

impl Connection {
    /// Opens a connection; each address has `limit` to answer, and so has the greeting of TLS.
    pub async fn open(address: &EngineAddress, trust: &Trust, limit: Duration) -> Result<Self, Trouble> {
        let stream = connect(address, limit).await?;
        let Some(tls) = &trust.0 else {
            return Self::greet(stream).await;
        };
        let name = ServerName::try_from(address.host()).map_err(|error| Trouble::Tls(error.to_string()))?;
        match timeout(limit, tls.connect(name, stream)).await {
            Ok(Ok(stream)) => Self::greet(stream).await,
            Ok(Err(error)) => Err(Trouble::Tls(error.to_string())),
            Err(_) => Err(Trouble::Silent(limit)),
        }
    }

    async fn greet(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Self, Trouble> {
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| Trouble::Unreachable(error.to_string()))?;
        let driver = tokio::spawn(async move {
            // Whatever breaks is seen by the one who waits for the answer.
            drop(connection.await);
        });
        Ok(Self { sender, driver })
    }
}

/// Connects to the first private address of the host that answers.
async fn connect(address: &EngineAddress, limit: Duration) -> Result<TcpStream, Trouble> {
    let found: Vec<SocketAddr> = match timeout(limit, lookup_host((address.host(), address.port()))).await {
        Ok(Ok(found)) => found.collect(),
        Ok(Err(error)) => return Err(Trouble::Unreachable(error.to_string())),
        Err(_) => return Err(Trouble::Unreachable("its name is not resolved in time".to_owned())),
    };
    let own: Vec<SocketAddr> = found
        .iter()
        .copied()
        .filter(|one| address::is_private(one.ip()))
        .collect();
    if let (true, Some(public)) = (own.is_empty(), found.first()) {
        return Err(Trouble::PublicName(public.ip().to_string()));
    }
    let mut why = "its name leads nowhere".to_owned();
    for one in own {
        match timeout(limit, TcpStream::connect(one)).await {
            Ok(Ok(stream)) => {
                // Tokens are small and should not wait for one another. Without it they only come later.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => why = error.to_string(),
            Err(_) => why = format!("no answer within {} s", limit.as_secs_f32()),
        }
    }
    Err(Trouble::Unreachable(why))
}
