//! What a provider of the web is, and which one a call takes.

use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::cx::{PermittedWeb, ToolCx};
use hermes_core::error::ToolError;
use hermes_core::keys::Keys;
use hermes_core::web::{Reach, WebReply, WebRequest};
use serde_json::Value;

use super::providers::PROVIDERS;

/// The name under which providers are declared as an effect: which one it is, only the settings know.
pub(crate) const SERVICE: &str = "the configured web provider";

/// Providers of the original that read another's pages against the terms of these; whoever has one of them
/// in their settings gets the first that is usable.
const ELSEWHERE: [&str; 1] = ["ddgs"];

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// Longest part of a refusal that is repeated.
const MAX_REFUSAL: usize = 300;

/// Somebody who searches the web, or reads pages, for us.
#[derive(Clone, Copy)]
pub(crate) struct Provider {
    name: &'static str,
    /// Lower is asked first when the settings name none.
    order: u8,
    /// Any of these variables makes it usable; without any it always is.
    keys: &'static [&'static str],
    search: Option<Search>,
    extract: Option<Extract>,
}

/// Searches.
pub(crate) type Search =
    for<'a> fn(&'a Asking<'a>, &'a str, usize) -> BoxFuture<'a, Result<Vec<Hit>, ToolError>>;

/// Reads one page.
pub(crate) type Extract = for<'a> fn(&'a Asking<'a>, &'a str) -> BoxFuture<'a, Result<Extracted, ToolError>>;

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Hit {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) description: String,
}

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Extracted {
    /// Where it came from in the end.
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) text: String,
}

/// What a provider may use.
pub(crate) struct Asking<'a> {
    pub(crate) cx: &'a ToolCx,
    pub(crate) web: PermittedWeb<'a>,
    pub(crate) keys: &'a dyn Keys,
}

/// What is asked of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Job {
    Search,
    Extract,
}

impl Provider {
    pub(crate) const fn new(name: &'static str, order: u8, keys: &'static [&'static str]) -> Self {
        Self { name, order, keys, search: None, extract: None }
    }

    pub(crate) const fn searching(mut self, search: Search) -> Self {
        self.search = Some(search);
        self
    }

    pub(crate) const fn extracting(mut self, extract: Extract) -> Self {
        self.extract = Some(extract);
        self
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn search(&self) -> Option<Search> {
        self.search
    }

    pub(crate) fn extract(&self) -> Option<Extract> {
        self.extract
    }

    fn does(&self, job: Job) -> bool {
        match job {
            Job::Search => self.search.is_some(),
            Job::Extract => self.extract.is_some(),
        }
    }

    fn is_usable(&self, keys: &dyn Keys) -> bool {
        self.keys.is_empty() || self.keys.iter().any(|name| keys.key(name).is_some())
    }
}

/// The variables of those who do a job.
pub(crate) fn variables(job: Job) -> Vec<&'static str> {
    PROVIDERS.iter().filter(|provider| provider.does(job)).flat_map(|it| it.keys).copied().collect()
}

/// The provider for a job: the one the settings name, or the first that is usable.
pub(crate) fn choose(job: Job, keys: &dyn Keys) -> Result<&'static Provider, ToolError> {
    let own = match job {
        Job::Search => "web.search_backend",
        Job::Extract => "web.extract_backend",
    };
    if let Some(named) = keys.text(own).or_else(|| keys.text("web.backend")) {
        return find(&named, job, keys, own);
    }
    let mut usable: Vec<_> =
        PROVIDERS.iter().filter(|provider| provider.does(job) && provider.is_usable(keys)).collect();
    usable.sort_by_key(|provider| provider.order);
    let none = || ToolError::Failed("no provider for the web is configured".to_owned());
    usable.first().map(|provider| **provider).ok_or_else(none)
}

fn find(named: &str, job: Job, keys: &dyn Keys, setting: &str) -> Result<&'static Provider, ToolError> {
    let able = || PROVIDERS.iter().filter(|provider| provider.does(job)).map(|provider| provider.name);
    let wanted = named.trim().to_ascii_lowercase();
    let found = PROVIDERS.iter().find(|provider| provider.name == wanted && provider.does(job));
    let Some(provider) = found else {
        // The general setting may name one that does only the other job, or one that is not asked here.
        if ELSEWHERE.contains(&wanted.as_str()) || PROVIDERS.iter().any(|provider| provider.name == wanted) {
            return choose_any(job, keys);
        }
        let known: Vec<_> = able().collect();
        let why = format!("{setting} names `{named}`, which is none of {}", known.join(", "));
        return Err(ToolError::Failed(why));
    };
    if !provider.is_usable(keys) {
        let needs = provider.keys.join(" or ");
        return Err(ToolError::Failed(format!("{named} needs {needs}; `hermes setup` asks for it")));
    }
    Ok(provider)
}

fn choose_any(job: Job, keys: &dyn Keys) -> Result<&'static Provider, ToolError> {
    let usable = PROVIDERS.iter().filter(|provider| provider.does(job) && provider.is_usable(keys));
    let none = || ToolError::Failed("no provider for the web is configured".to_owned());
    usable.min_by_key(|provider| provider.order).copied().ok_or_else(none)
}

impl<'a> Asking<'a> {
    pub(crate) fn new(cx: &'a ToolCx) -> Result<Self, ToolError> {
        Ok(Self { cx, web: cx.web()?, keys: cx.keys()? })
    }

    /// The first of these variables that is set.
    pub(crate) fn key(&self, names: &[&str]) -> Result<String, ToolError> {
        let missing = || ToolError::Failed(format!("{} is not set", names.join(" or ")));
        names.iter().find_map(|name| self.keys.key(name)).ok_or_else(missing)
    }

    /// The address of a provider: where a variable points, or the usual one, without a slash at its end.
    pub(crate) fn base(&self, variable: &str, usual: &str) -> String {
        let base = self.keys.key(variable).unwrap_or_else(|| usual.to_owned());
        base.trim().trim_end_matches('/').to_owned()
    }

    /// Sends JSON to a provider and reads its JSON.
    pub(crate) async fn post(
        &self,
        url: String,
        headers: &[(&str, String)],
        body: &Value,
    ) -> Result<Value, ToolError> {
        self.post_within(PATIENCE, url, headers, body).await
    }

    /// The same, for one that takes its time.
    pub(crate) async fn post_within(
        &self,
        patience: Duration,
        url: String,
        headers: &[(&str, String)],
        body: &Value,
    ) -> Result<Value, ToolError> {
        let mut request = WebRequest::post_json(url, Reach::Configured(SERVICE), body);
        for (name, value) in headers {
            request = request.header(name, value.clone());
        }
        answered(&self.web.fetch(request.timeout(patience)).await?)
    }

    /// Asks a provider and reads its JSON.
    pub(crate) async fn get(&self, url: String, headers: &[(&str, String)]) -> Result<Value, ToolError> {
        let mut request = WebRequest::get(url, Reach::Configured(SERVICE));
        for (name, value) in headers {
            request = request.header(name, value.clone());
        }
        answered(&self.web.fetch(request).await?)
    }
}

/// The JSON of an answer, or what was wrong with it.
fn answered(reply: &WebReply) -> Result<Value, ToolError> {
    if !reply.is_ok() {
        let said: String = reply.text().trim().chars().take(MAX_REFUSAL).collect();
        let hint = match reply.status {
            401 | 403 => " (is the key right?)",
            402 => " (the account has no credit left)",
            429 => " (too many requests; try again later)",
            _ => "",
        };
        return Err(ToolError::Failed(format!("the provider answered {}{hint}: {said}", reply.status)));
    }
    reply.json().ok_or_else(|| ToolError::Failed("the provider's answer is no JSON".to_owned()))
}
