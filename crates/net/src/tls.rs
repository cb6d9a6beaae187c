//! Encryption, built when the first `https` address is asked and not before.
//!
//! The usual certificate authorities are compiled in, which costs microseconds; those of the machine
//! are read only when a server's certificate comes from none of them, as behind a company's proxy.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::connect::Protocol;

/// Makes encrypted connections.
#[derive(Debug, Default)]
pub(crate) struct Tls {
    /// A file of certificate authorities to trust as well.
    ca_file: Option<PathBuf>,
    usual: OnceLock<Option<Arc<ClientConfig>>>,
    machine: OnceLock<Option<Arc<ClientConfig>>>,
}

/// Why a connection could not be encrypted.
pub(crate) enum TlsError {
    /// The certificate comes from nobody known so far.
    UnknownIssuer,
    /// Anything else, in words.
    Failed(String),
}

impl Tls {
    pub(crate) fn new(ca_file: Option<PathBuf>) -> Self {
        Self { ca_file, ..Self::default() }
    }

    /// Encrypts a connection, trusting the usual authorities, or the machine's as well.
    pub(crate) async fn over(
        &self,
        tcp: TcpStream,
        host: &str,
        machine: bool,
        protocol: Protocol,
    ) -> Result<TlsStream<TcpStream>, TlsError> {
        let failed = |text: String| TlsError::Failed(text);
        let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(error.to_string()))?;
        let config = if machine { self.machine() } else { self.usual() };
        let mut config = config.ok_or_else(|| failed("encryption is not available".into()))?;
        if protocol == Protocol::Http2 {
            let mut other = (*config).clone();
            other.alpn_protocols = vec![b"h2".to_vec()];
            config = Arc::new(other);
        }
        TlsConnector::from(config).connect(name, tcp).await.map_err(|error| {
            let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
            match cause {
                Some(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer)) => {
                    TlsError::UnknownIssuer
                }
                _ => failed(error.to_string()),
            }
        })
    }

    fn usual(&self) -> Option<Arc<ClientConfig>> {
        self.usual.get_or_init(|| config(usual_roots())).clone()
    }

    fn machine(&self) -> Option<Arc<ClientConfig>> {
        let load = || {
            let mut roots = usual_roots();
            let found = match &self.ca_file {
                Some(file) => rustls_native_certs::load_certs_from_paths(Some(file), None),
                None => rustls_native_certs::load_native_certs(),
            };
            roots.add_parsable_certificates(found.certs);
            config(roots)
        };
        self.machine.get_or_init(load).clone()
    }
}

fn usual_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

fn config(roots: RootCertStore) -> Option<Arc<ClientConfig>> {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions().ok()?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(Arc::new(config))
}
