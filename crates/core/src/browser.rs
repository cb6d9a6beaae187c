//! Web browsers as tools reach them: a line of the `DevTools` protocol to one that was started here, or
//! to one that the settings name.
//!
//! Whoever implements this sees to it that a browser of ours reaches only what the rules for addresses
//! let through, whatever its pages ask for, and that it ends when its line is gone.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::permit::{Connect, Permit};
use crate::web::WebError;

/// What a call declares that may open a browser.
pub const SERVICE: &str = "browser";

/// Variables and settings that name the address of a running browser, in the order in which they count.
pub const ADDRESS: (&str, &str) = ("BROWSER_CDP_URL", "browser.cdp_url");

/// Variables and the setting that name a browser of this machine.
pub const PROGRAM: ([&str; 2], &str) =
    (["BROWSER_PATH", "AGENT_BROWSER_EXECUTABLE_PATH"], "browser.executable_path");

/// What browsers are called on the search path.
pub const NAMES: [&str; 8] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "chrome-headless-shell",
    "microsoft-edge",
    "brave-browser",
];

/// Where browsers are when they are not on the search path.
pub const PLACES: [&str; 4] = [
    "/usr/lib/chromium/chromium",
    "/opt/google/chrome/chrome",
    "/snap/bin/chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// Opens browsers.
pub trait Browsers: Send + Sync {
    /// Starts a browser with an empty profile of its own, or reaches the one that the settings name.
    /// The permit is for [`SERVICE`].
    fn open(
        &self,
        permit: Permit<Connect>,
        hears: Arc<dyn Hears>,
    ) -> BoxFuture<'_, Result<Arc<dyn BrowserLine>, WebError>>;

    /// Says no to a page that the rules for addresses are against. What its name leads to is judged
    /// later, at the moment of connecting.
    fn judge(&self, url: &str) -> Result<(), WebError>;

    /// Keeps a picture of a page for a while, where a person or another tool finds it.
    fn keep_picture<'a>(
        &'a self,
        session: &'a str,
        name: &'a str,
        png: Vec<u8>,
    ) -> BoxFuture<'a, Option<PathBuf>>;
}

/// Takes what a browser says. It is called by one thread at a time, and wants to be quick.
pub trait Hears: Send + Sync {
    /// One message of the protocol.
    fn message(&self, text: String);

    /// No more will come; why, in words.
    fn ended(&self, why: &str);
}

/// Kept while a browser is used.
pub type Hold = Box<dyn Any + Send + Sync>;

/// A line to a browser. When the last one who holds it lets go, a browser of ours ends and its profile
/// is removed; one that was only reached is left alone.
pub trait BrowserLine: Send + Sync {
    /// Sends one message of the protocol, after those that were sent before. What is sent to a browser
    /// that has ended is lost.
    fn send(&self, message: String);

    /// Says that it is used, for as long as this is kept: a browser that is not is closed after a while.
    fn hold(&self) -> Hold;

    /// Whether it was started by us, and reaches nothing but through our gate.
    fn is_ours(&self) -> bool;

    /// What its pages wanted to reach since this was last asked and were not let through, in words.
    fn refused(&self) -> Vec<String>;
}
