//! A model server for shell scripts and benchmarks: `model_server [address] [text]` says the text to
//! every question, at `127.0.0.1:8099` when no address is given, until it is stopped.
#![expect(clippy::disallowed_methods, reason = "a program reads its own arguments")]
#![expect(clippy::print_stdout, reason = "a script reads the address")]

use hermes_testkit::{Answer, ModelServer};

fn main() {
    let mut words = std::env::args().skip(1);
    let address = words.next().unwrap_or_else(|| "127.0.0.1:8099".into());
    let text = words.next().unwrap_or_else(|| "Hello from the scripted model.".into());
    let server = ModelServer::always_at(&address, Answer::text(text));
    println!("{}", server.url());
    loop {
        std::thread::park();
    }
}
