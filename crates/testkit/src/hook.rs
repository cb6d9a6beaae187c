//! A hook that notes what it is told and answers as the test says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::hook::{Before, CallEnd, CallView, Hook, HookFailure};
use serde_json::Value;

use crate::lock;

type BeforeFn = dyn Fn(&CallView) -> BoxFuture<'static, Result<Before, HookFailure>> + Send + Sync;
type TransformFn = dyn Fn(&CallEnd) -> BoxFuture<'static, Result<Option<Value>, HookFailure>> + Send + Sync;
type AfterFn = dyn Fn(&CallEnd) -> BoxFuture<'static, ()> + Send + Sync;

/// Notes every call; what it does beside that is up to the test.
pub struct RecordingHook {
    name: String,
    order: i32,
    policy: bool,
    only: Option<String>,
    before: Option<Box<BeforeFn>>,
    transform: Option<Box<TransformFn>>,
    after: Option<Box<AfterFn>>,
    log: Arc<Mutex<Vec<String>>>,
    seen: Mutex<Vec<CallView>>,
    ends: Mutex<Vec<CallEnd>>,
}

impl RecordingHook {
    /// A hook that lets everything pass.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            order: 0,
            policy: false,
            only: None,
            before: None,
            transform: None,
            after: None,
            log: Arc::default(),
            seen: Mutex::default(),
            ends: Mutex::default(),
        }
    }

    /// Its place among the others.
    pub fn order(mut self, order: i32) -> Self {
        self.order = order;
        self
    }

    /// Its failure denies the call.
    pub fn policy(mut self) -> Self {
        self.policy = true;
        self
    }

    /// It wants to hear about this tool alone.
    pub fn only(mut self, tool: &str) -> Self {
        self.only = Some(tool.to_owned());
        self
    }

    /// Writes its name into a list it shares with other hooks.
    pub fn log(mut self, log: &Arc<Mutex<Vec<String>>>) -> Self {
        self.log = Arc::clone(log);
        self
    }

    /// What it answers before a call.
    pub fn before<Fut>(mut self, answer: impl Fn(&CallView) -> Fut + Send + Sync + 'static) -> Self
    where
        Fut: Future<Output = Result<Before, HookFailure>> + Send + 'static,
    {
        self.before = Some(Box::new(move |call| Box::pin(answer(call))));
        self
    }

    /// What it makes of a result.
    pub fn transform<Fut>(mut self, answer: impl Fn(&CallEnd) -> Fut + Send + Sync + 'static) -> Self
    where
        Fut: Future<Output = Result<Option<Value>, HookFailure>> + Send + 'static,
    {
        self.transform = Some(Box::new(move |end| Box::pin(answer(end))));
        self
    }

    /// What it does when a call is over.
    pub fn after<Fut>(mut self, answer: impl Fn(&CallEnd) -> Fut + Send + Sync + 'static) -> Self
    where
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.after = Some(Box::new(move |end| Box::pin(answer(end))));
        self
    }

    /// The calls it was asked about.
    pub fn seen(&self) -> Vec<CallView> {
        lock(&self.seen).clone()
    }

    /// The ends it was told about.
    pub fn ends(&self) -> Vec<CallEnd> {
        lock(&self.ends).clone()
    }
}

impl Hook for RecordingHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn order(&self) -> i32 {
        self.order
    }

    fn is_policy(&self) -> bool {
        self.policy
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn wants(&self, tool: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == tool)
    }

    fn before<'a>(&'a self, call: &'a CallView) -> BoxFuture<'a, Result<Before, HookFailure>> {
        lock(&self.log).push(format!("before {}", self.name));
        lock(&self.seen).push(call.clone());
        match &self.before {
            None => Box::pin(std::future::ready(Ok(Before::Continue))),
            Some(answer) => answer(call),
        }
    }

    fn transform<'a>(
        &'a self,
        _call: &'a CallView,
        end: &'a CallEnd,
    ) -> BoxFuture<'a, Result<Option<Value>, HookFailure>> {
        lock(&self.log).push(format!("transform {}", self.name));
        match &self.transform {
            None => Box::pin(std::future::ready(Ok(None))),
            Some(answer) => answer(end),
        }
    }

    fn after<'a>(&'a self, _call: &'a CallView, end: &'a CallEnd) -> BoxFuture<'a, ()> {
        lock(&self.log).push(format!("after {}", self.name));
        lock(&self.ends).push(end.clone());
        match &self.after {
            None => Box::pin(std::future::ready(())),
            Some(answer) => answer(end),
        }
    }
}
