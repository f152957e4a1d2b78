//! An engine behind TLS: believed when its authority is the one that the person named, and not otherwise.
//!
//! `tests/tls` has an authority made for this test, and a certificate and key of `localhost`; they are worth nothing elsewhere.
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

use magis_remote::{EngineOptions, Patience};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 38\r\n\r\n{\"data\":[{\"id\":\"a\",\"owned_by\":\"me\"}]} ";

fn file(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
}

/// Serves a list of one model; returns its port.
async fn serve() -> (u16, JoinHandle<()>) {
    let certificate = CertificateDer::from_pem_file(file("certificate.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that does not believe it hangs up.
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut request = vec![0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(ANSWER.as_bytes()).await;
        }
    });
    (port, served)
}

async fn models(host: &str, port: u16, authorities: Option<&str>) -> Result<usize, String> {
    let options = EngineOptions {
        authorities: authorities.map(file),
        patience: Patience {
            connect: Duration::from_secs(5),
            ..Patience::default()
        },
        ..EngineOptions::at(format!("https://{host}:{port}").parse().unwrap())
    };
    let models = options.models().await.map_err(|error| error.to_string())?;
    Ok(models.len())
}

#[tokio::test]
async fn an_engine_is_believed_by_the_authority_that_was_named() {
    let (port, served) = serve().await;
    assert_eq!(models("localhost", port, Some("authority.pem")).await, Ok(1));
    assert_eq!(models("127.0.0.1", port, Some("authority.pem")).await, Ok(1));
    let unknown = models("localhost", port, None).await.unwrap_err();
    assert!(unknown.contains("cannot be trusted"), "{unknown}");
    let wrong = models("localhost", port, Some("key.pem")).await.unwrap_err();
    assert!(wrong.contains("it holds no certificate"), "{wrong}");
    let missing = models("localhost", port, Some("missing.pem")).await.unwrap_err();
    assert!(missing.contains("missing.pem cannot be read"), "{missing}");
    served.abort();
}
