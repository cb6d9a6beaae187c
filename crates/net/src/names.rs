//! How the name of a host becomes addresses: as the machine does it, or as somebody says.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Looks names up.
#[derive(Clone, Default)]
pub struct Names(Option<Arc<Table>>);

type Table = dyn Fn(&str) -> Vec<IpAddr> + Send + Sync;

impl Names {
    /// Asks `table` in place of the machine; a name without an address is not known.
    pub fn by(table: impl Fn(&str) -> Vec<IpAddr> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(table)))
    }

    pub(crate) async fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        match &self.0 {
            None => Ok(tokio::net::lookup_host((host, port)).await?.collect()),
            Some(table) => {
                let found: Vec<_> = table(host).into_iter().map(|ip| SocketAddr::new(ip, port)).collect();
                if found.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(found) }
            }
        }
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Names::by(…)" } else { "Names::default()" })
    }
}
