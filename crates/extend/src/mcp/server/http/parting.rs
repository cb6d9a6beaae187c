//! The end of a connection whose client may still be sending.
//!
//! A request may be answered before all of it has come: one that is too large, or from somebody who is not let
//! in. If the connection were closed while the rest is on its way, the system would throw the answer away with
//! it, and the client would see a broken connection. So what comes is taken and dropped, for a while.

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Most bytes that are taken only to be dropped.
const MOST: usize = 64 * 1024 * 1024;

/// Bytes that are taken at once.
const PIECE: usize = 64 * 1024;

/// Says that nothing more is answered, and takes what comes until the client has closed its side, too, or has
/// sent too much.
pub(super) async fn part(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    // A client that has gone already needs no farewell.
    if stream.shutdown().await.is_err() {
        return;
    }
    let (mut piece, mut taken) = (vec![0; PIECE], 0);
    while taken < MOST {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(count) => taken += count,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    #[tokio::test]
    async fn a_client_that_sends_on_is_heard_to_its_end_and_no_further_than_there_is_sense_in() {
        for (sends, heard) in [(PIECE * 3, true), (MOST + PIECE * 4, false)] {
            let (mut client, server) = duplex(PIECE);
            let sending = async {
                let all = client.write_all(&vec![b' '; sends]).await.is_ok();
                drop(client);
                all
            };

            let (all, ()) = tokio::join!(sending, part(server));

            assert_eq!(all, heard);
        }
    }
}
