//! The door for those who come to us: a socket that listens.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

/// How long is waited when the system has no room for one more connection.
const BREATH: Duration = Duration::from_millis(100);

/// A socket that listens on one address.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens. Port 0 takes any that is free; [`Listener::address`] tells which. Must be called
    /// inside of an async runtime.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next one who comes. A connection that broke before it was taken is passed over, and a
    /// system without room is given time.
    pub async fn accept(&self) -> TcpStream {
        loop {
            match self.socket.accept().await {
                Ok((stream, _)) => {
                    // Answers are small and wanted at once; where it cannot be set they are only late.
                    let _ = stream.set_nodelay(true);
                    return stream;
                }
                Err(_) => tokio::time::sleep(BREATH).await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_free_port_is_found_and_told() {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();

        assert_ne!(listener.address().port(), 0);
        let (came, went) = tokio::join!(listener.accept(), TcpStream::connect(listener.address()));
        assert_eq!(came.peer_addr().unwrap(), went.unwrap().local_addr().unwrap());
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_an_error() {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();

        assert!(Listener::bind(listener.address()).await.is_err());
    }
}
