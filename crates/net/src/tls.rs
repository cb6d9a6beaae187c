//! Encryption, built when the first `https` address is asked and not before.
//!
//! The usual certificate authorities are compiled in, which costs microseconds; those of the machine
//! are read only when a server's certificate comes from none of them, as behind a company's proxy.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Makes encrypted connections.
#[derive(Debug, Default)]
pub(crate) struct Tls {
    /// A file of certificate authorities to trust as well.
    ca_file: Option<PathBuf>,
    usual: OnceLock<Option<Arc<ClientConfig>>>,
    machine: OnceLock<Option<Arc<ClientConfig>>>,
    other: OnceLock<Option<Arc<ClientConfig>>>,
}

/// Which authorities are trusted, and what is to be spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The usual ones, for http.
    Usual,
    /// The machine's as well, for http.
    Machine,
    /// The machine's as well, for another protocol, which is not announced.
    MachineOther,
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

    /// Encrypts a connection.
    pub(crate) async fn over<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        tcp: S,
        host: &str,
        trust: Trust,
    ) -> Result<TlsStream<S>, TlsError> {
        let failed = |text: String| TlsError::Failed(text);
        let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(error.to_string()))?;
        let config = match trust {
            Trust::Usual => self.usual(),
            Trust::Machine => self.machine(),
            Trust::MachineOther => self.other(),
        };
        let config = config.ok_or_else(|| failed("encryption is not available".into()))?;
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

    fn other(&self) -> Option<Arc<ClientConfig>> {
        let make = || {
            let mut config = ClientConfig::clone(self.machine()?.as_ref());
            config.alpn_protocols.clear();
            Some(Arc::new(config))
        };
        self.other.get_or_init(make).clone()
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
