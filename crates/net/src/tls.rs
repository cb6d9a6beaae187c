//! Encryption, built when the first `https` address is asked and not before.
//!
//! The usual certificate authorities are compiled in, which costs microseconds; those of the machine
//! are read only when a server's certificate comes from none of them, as behind a company's proxy.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::connect::Protocol;
use crate::unverified::AnyCertificate;

/// How connections are encrypted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// A file of certificate authorities to trust beyond the usual ones (`SSL_CERT_FILE`).
    pub ca_file: Option<PathBuf>,
    /// Whether any certificate is taken for good: whoever sits on the way can then read along.
    pub unverified: bool,
    /// Who we say we are, where a server wants to know.
    pub identity: Option<Identity>,
}

/// A certificate of ours and its key, in PEM; both may be in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate, and those that lead from it to an authority.
    pub certificate: PathBuf,
    /// Its key, not encrypted.
    pub key: PathBuf,
}

/// Makes encrypted connections.
#[derive(Debug, Default)]
pub(crate) struct Tls {
    settings: TlsSettings,
    usual: OnceLock<Made>,
    machine: OnceLock<Made>,
}

/// Which authorities are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The usual ones.
    Usual,
    /// The machine's as well.
    Machine,
}

/// A configuration, or why there is none.
type Made = Result<Arc<ClientConfig>, String>;

/// Why a connection could not be encrypted.
pub(crate) enum TlsError {
    /// The certificate comes from nobody known so far.
    UnknownIssuer,
    /// Anything else, in words.
    Failed(String),
}

impl Tls {
    pub(crate) fn new(settings: TlsSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Encrypts a connection.
    pub(crate) async fn over<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        tcp: S,
        host: &str,
        trust: Trust,
        protocol: Protocol,
    ) -> Result<TlsStream<S>, TlsError> {
        let failed = |text: String| TlsError::Failed(text);
        let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(error.to_string()))?;
        let config = match trust {
            Trust::Usual => self.usual(),
            Trust::Machine => self.machine(),
        };
        let mut config = config.map_err(failed)?;
        if protocol != Protocol::Http1 {
            let mut other = (*config).clone();
            other.alpn_protocols = protocol.name().map(<[u8]>::to_vec).into_iter().collect();
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

    fn usual(&self) -> Made {
        self.usual.get_or_init(|| self.config(usual_roots())).clone()
    }

    fn machine(&self) -> Made {
        let load = || {
            let mut roots = usual_roots();
            let found = match &self.settings.ca_file {
                Some(file) => rustls_native_certs::load_certs_from_paths(Some(file), None),
                None => rustls_native_certs::load_native_certs(),
            };
            roots.add_parsable_certificates(found.certs);
            self.config(roots)
        };
        self.machine.get_or_init(load).clone()
    }

    fn config(&self, roots: RootCertStore) -> Made {
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&ring))
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("encryption is not available: {error}"))?;
        let builder = if self.settings.unverified {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(ring)))
        } else {
            builder.with_root_certificates(roots)
        };
        let mut config = match &self.settings.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (chain, key) = identity.read()?;
                let unusable = |error| format!("{}: {error}", identity.certificate.display());
                builder.with_client_auth_cert(chain, key).map_err(unusable)?
            }
        };
        config.alpn_protocols = Protocol::Http1.name().map(<[u8]>::to_vec).into_iter().collect();
        Ok(Arc::new(config))
    }
}

impl Identity {
    fn read(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String> {
        let told = |path: &Path, error: rustls::pki_types::pem::Error| format!("{}: {error}", path.display());
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_file_iter(&self.certificate).and_then(Iterator::collect);
        let chain = chain.map_err(|error| told(&self.certificate, error))?;
        if chain.is_empty() {
            return Err(format!("{}: there is no certificate in it", self.certificate.display()));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| told(&self.key, error))?;
        Ok((chain, key))
    }
}

fn usual_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}
