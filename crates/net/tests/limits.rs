//! Servers that mean no good: they send without end, drip, lie about how much comes, or change their
//! address between being checked and being connected to.

#![expect(clippy::disallowed_methods, reason = "the tests bring servers of their own, and look at the clock")]
#![expect(clippy::unwrap_used, reason = "helpers are part of the tests")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hermes_net::{AddressRule, Call, Http, HttpError, HttpSettings, Limits, Names, Url};

/// Long enough for a busy machine, short enough for a test.
const TOTAL: Duration = Duration::from_millis(600);

const LIMITS: Limits =
    Limits { connect: Duration::from_secs(10), idle: Duration::from_secs(10), total: TOTAL };

const PATIENT: Limits = Limits { total: Duration::from_secs(20), ..LIMITS };

/// Answers every connection as `answer` does, after the request was read; counts them.
fn serve(at: SocketAddr, answer: impl Fn(&mut TcpStream) + Send + 'static) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(at).unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            answer(reader.get_mut());
        }
    });
    (address, count)
}

fn local() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

fn url(address: SocketAddr) -> Url {
    Url::parse(&format!("http://{address}/")).unwrap()
}

#[tokio::test]
async fn an_answer_without_end_is_read_as_far_as_is_wanted() {
    let (address, _) = serve(local(), |stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let piece = format!("{:x}\r\n{}\r\n", 64 * 1024, "x".repeat(64 * 1024));
        while stream.write_all(piece.as_bytes()).is_ok() {}
    });
    let http = Http::new(HttpSettings::default());

    let url = url(address);
    let mut reply = http.send(Call::get(&url, PATIENT)).await.unwrap();
    let body = reply.read(300_000).await.unwrap();

    assert_eq!(body.len(), 300_000);
}

#[tokio::test]
async fn a_server_that_drips_is_left_when_the_time_is_over() {
    let (address, _) = serve(local(), |stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let (http, began, url) = (Http::new(HttpSettings::default()), Instant::now(), url(address));

    let mut reply = http.send(Call::get(&url, LIMITS)).await.unwrap();
    let wrong = reply.read(200_000).await.unwrap_err();

    assert_eq!(wrong, HttpError::TooLong { host: "127.0.0.1".to_owned(), after: TOTAL });
    assert!(began.elapsed() >= TOTAL && began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_server_that_says_nothing_or_drips_its_head_is_left_too() {
    for head in ["", "HTTP/1.1 200 OK\r\n"] {
        let (address, _) = serve(local(), move |stream| {
            let drips = !head.is_empty() && stream.write_all(head.as_bytes()).is_ok();
            while drips && stream.write_all(b"x: y\r\n").is_ok() {
                std::thread::sleep(Duration::from_millis(50));
            }
            std::thread::sleep(Duration::from_secs(3));
        });
        let (http, url) = (Http::new(HttpSettings::default()), url(address));

        let Err(wrong) = http.send(Call::get(&url, LIMITS)).await else { panic!("it answered") };

        let expected = matches!(wrong, HttpError::Stalled { .. } | HttpError::Broken { .. });
        assert!(expected, "{head:?}: {wrong}");
    }
}

#[tokio::test]
async fn a_length_that_is_not_true_is_found_out() {
    let (short, _) = serve(local(), |stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nonly this");
    });
    let (long, connections) = serve(local(), |stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nthisHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nthat");
    });
    let (absurd, _) = serve(local(), |stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nx");
    });
    let http = Http::new(HttpSettings::default());

    let (short, long, absurd) = (url(short), url(long), url(absurd));
    let broken = http.send(Call::get(&short, PATIENT)).await.unwrap().read(100).await.unwrap_err();
    assert!(matches!(broken, HttpError::Broken { .. }), "{broken}");
    // What comes behind is nobody's answer, and least of all that to the next question.
    for round in 1..=2 {
        let body = http.send(Call::get(&long, PATIENT)).await.unwrap().read(100).await.unwrap();
        assert_eq!((body.as_slice(), connections.load(Ordering::SeqCst)), (&b"this"[..], round));
    }
    // Nothing is set aside for what was only promised.
    if let Ok(mut reply) = http.send(Call::get(&absurd, PATIENT)).await {
        assert!(reply.read(100).await.is_err());
    }
}

/// A rule that lets only this address be.
fn only(address: Ipv4Addr) -> AddressRule {
    Arc::new(move |ip| (ip != IpAddr::V4(address)).then(|| format!("{ip} is inside")))
}

#[tokio::test]
async fn what_was_checked_is_what_is_connected_to_however_a_name_changes_its_mind() {
    let (outside, inside) = (Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::LOCALHOST);
    let told = |words: &'static str| {
        move |stream: &mut TcpStream| {
            let head =
                format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", words.len());
            let _ = stream.write_all([head.as_bytes(), words.as_bytes()].concat().as_slice());
        }
    };
    let (address, _) = serve((outside, 0).into(), told("outside"));
    let (_, reached) = serve((inside, address.port()).into(), told("inside"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    // Outside when it is first looked up, inside ever after, and at last both.
    let names = Names::by(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => vec![outside.into()],
        1 => vec![inside.into()],
        _ => vec![outside.into(), inside.into()],
    });
    let http = Http::new(HttpSettings { names, ..HttpSettings::default() });
    let url = Url::parse(&format!("http://rebound.example:{}/", address.port())).unwrap();
    let ask = || http.send(Call::get(&url, PATIENT).only(only(outside)));

    let body = ask().await.unwrap().read(100).await.unwrap();
    assert_eq!((body.as_slice(), asked.load(Ordering::SeqCst)), (&b"outside"[..], 1), "it is looked up once");
    for _ in 0..2 {
        let Err(wrong) = ask().await else { panic!("it was reached") };
        let refused = HttpError::Refused { host: url.host.clone(), why: "127.0.0.1 is inside".to_owned() };
        assert_eq!(wrong, refused);
    }
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}
