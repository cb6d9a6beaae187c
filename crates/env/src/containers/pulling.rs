//! What an engine says while it fetches an image, in a few words.

use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::environment::{Output, Stream};

/// Counts the layers of an image, and tells how many of them are there.
pub(super) struct Pulling {
    image: String,
    tell: Arc<dyn Output>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    line: Vec<u8>,
    layers: usize,
    done: usize,
}

impl Pulling {
    /// Says that it begins, and counts from then on.
    pub(super) fn begin(image: &str, tell: Arc<dyn Output>) -> Arc<dyn Output> {
        let pulling = Self { image: image.to_owned(), tell, state: Mutex::default() };
        pulling.say("");
        Arc::new(pulling)
    }

    fn say(&self, how_far: &str) {
        self.tell.take(Stream::Err, format!("fetching {}{how_far}\n", self.image).as_bytes());
    }
}

impl State {
    /// What there is to say about a line, if it tells anything new.
    fn heard(&mut self, line: &str) -> Option<String> {
        let about = line.rsplit(": ").next().unwrap_or(line).trim();
        match about {
            "Pulling fs layer" => self.layers += 1,
            "Already exists" => {
                self.layers += 1;
                self.done += 1;
            }
            "Pull complete" => self.done += 1,
            _ => return self.heard_podman(line),
        }
        Some(self.how_far())
    }

    /// Podman tells where nobody looks only that it begins with a layer; what follows the layers tells that
    /// they are there.
    fn heard_podman(&mut self, line: &str) -> Option<String> {
        if line.starts_with("Copying blob") {
            self.layers += 1;
            self.done += usize::from(line.contains("already exists"));
        } else if line.starts_with("Copying config") {
            self.done = self.layers;
        } else {
            return None;
        }
        Some(self.how_far())
    }

    fn how_far(&self) -> String {
        format!(": {} of {} layers", self.done, self.layers)
    }
}

impl Output for Pulling {
    fn take(&self, _: Stream, bytes: &[u8]) {
        for byte in bytes {
            let said = {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                if *byte == b'\n' {
                    let line = std::mem::take(&mut state.line);
                    state.heard(&String::from_utf8_lossy(&line))
                } else {
                    // No line of an engine is as long.
                    if state.line.len() < 1000 {
                        state.line.push(*byte);
                    }
                    None
                }
            };
            if let Some(said) = said {
                self.say(&said);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<String>);

    impl Output for Heard {
        fn take(&self, _: Stream, bytes: &[u8]) {
            self.0.lock().unwrap().push_str(&String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn layers_are_counted_in_podmans_words_too() {
        let mut state = State::default();
        let said = "Getting image source signatures\nCopying blob sha256:1\n\
                    Copying blob sha256:2 skipped: already exists\nCopying config sha256:3\nWriting manifest";

        let told: Vec<_> = said.lines().filter_map(|line| state.heard(line)).collect();

        assert_eq!(told, [": 0 of 1 layers", ": 1 of 2 layers", ": 2 of 2 layers"]);
    }

    #[test]
    fn layers_are_counted_as_they_come() {
        let heard = Arc::new(Heard::default());
        let pulling = Pulling::begin("debian:12", Arc::clone(&heard) as Arc<_>);

        pulling.take(Stream::Out, b"12: Pulling from library/debian\nab: Pulling fs layer\ncd: Already ex");
        pulling.take(Stream::Out, b"ists\nab: Download complete\nab: Pull complete\nDigest: sha256:0\n");

        let expected = "fetching debian:12\nfetching debian:12: 0 of 1 layers\n\
                        fetching debian:12: 1 of 2 layers\nfetching debian:12: 2 of 2 layers\n";
        assert_eq!(*heard.0.lock().unwrap(), expected);
    }
}
