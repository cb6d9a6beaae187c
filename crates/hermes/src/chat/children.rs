//! Agents that work for another one: each has a conversation, a budget and tools of its own, and its
//! calls take the road like everybody's.
//!
//! A child that fails, panics or is stopped costs its own task alone: every task has an end.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::{BoxFuture, Either, select};
use futures::{FutureExt, StreamExt};
use hermes_agent::{Event, Learnt, Steering, TurnEnd, TurnStatus};
use hermes_core::delegate::{Delegates, End, EndStatus, Giver, Limits, Role, Step, Task};
use hermes_core::model::{Part, Usage};
use hermes_core::policy::{Answer, ApprovalRequest, Approver, Grant};
use hermes_store::sessions::{Link, fresh_id};
use tokio_util::sync::CancellationToken;

use super::hooks;
use super::models::{self, ModelWish, Models};
use super::open::{self, Opening, Terms};
use super::relay::Relay;
use crate::host::Machine;
use crate::runtime::Runtime;

/// What a child never gets: it has nobody to ask, and what it learns is its parent's to keep.
const WITHHELD: &[&str] = &["clarify", "memory", "send_message", "execute_code", "cronjob"];

/// Steps of a child that are told about.
const MAX_TRACE: usize = 200;

/// What children of one session are made from.
pub(crate) struct Children {
    runtime: Runtime,
    terms: Terms,
    models: Models,
    learnt: Arc<Learnt>,
    relay: Relay,
}

/// The children a session may have; none at the last generation.
pub(crate) fn delegates(
    runtime: &Runtime,
    terms: &Terms,
    models: &Models,
    relay: &Relay,
    learnt: &Arc<Learnt>,
) -> Option<Arc<dyn Delegates>> {
    let generations = runtime.settings().delegation.max_spawn_depth;
    (terms.generation < generations).then(|| {
        Arc::new(Children {
            runtime: runtime.clone(),
            terms: terms.clone(),
            models: models.clone(),
            learnt: Arc::clone(learnt),
            relay: relay.clone(),
        }) as Arc<dyn Delegates>
    })
}

impl Delegates for Children {
    fn limits(&self) -> Limits {
        let settings = self.runtime.settings().delegation;
        Limits {
            tasks: usize::try_from(settings.max_concurrent_children).unwrap_or(usize::MAX),
            orchestrators: self.terms.generation + 1 < settings.max_spawn_depth,
            background: false,
        }
    }

    fn run<'a>(&'a self, tasks: Vec<Task>, from: Giver<'a>) -> BoxFuture<'a, Vec<End>> {
        let at_once = self.limits().tasks.max(1);
        Box::pin(async move {
            let mut work: Vec<BoxFuture<'_, End>> = Vec::with_capacity(tasks.len());
            for (at, task) in tasks.iter().enumerate() {
                work.push(Box::pin(self.worked_on(at, task, from)));
            }
            futures::stream::iter(work).buffered(at_once).collect().await
        })
    }

    fn dispatch<'a>(&'a self, _tasks: Vec<Task>, _from: Giver<'a>) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(std::future::ready(Err("ends cannot come into this conversation later".to_owned())))
    }
}

impl Children {
    /// Works on one task, whatever happens.
    async fn worked_on(&self, at: usize, task: &Task, from: Giver<'_>) -> End {
        let host = self.runtime.host();
        let began = host.now();
        let cancel = from.cancel.child_token();
        let child = fresh_id(Machine::wall(), Machine::chance());
        hooks::task_began(&self.runtime, from.session, &child, task).await;
        let work = AssertUnwindSafe(self.work(at, task, from.session, &child, &cancel)).catch_unwind();
        let limit = self.runtime.settings().delegation.child_timeout;
        let patience = async {
            match limit {
                Some(limit) => host.sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let mut end = match select(Box::pin(work), Box::pin(patience)).await {
            Either::Left((Ok(Ok(end)), _)) => end,
            Either::Left((Ok(Err(why)), _)) => ended(EndStatus::Error, why),
            Either::Left((Err(_), _)) => ended(EndStatus::Error, "the agent broke".to_owned()),
            Either::Right(_) => {
                cancel.cancel();
                ended(EndStatus::Timeout, "it took too long and was stopped".to_owned())
            }
        };
        end.took = host.now().saturating_sub(began);
        hooks::task_ended(&self.runtime, from.session, task, &end).await;
        end
    }

    async fn work(
        &self,
        at: usize,
        task: &Task,
        parent: &str,
        child: &str,
        cancel: &CancellationToken,
    ) -> Result<End, String> {
        let settings = self.runtime.settings().delegation;
        let models = match (&settings.model, &settings.provider) {
            (None, None) => self.models.clone(),
            (model, provider) => {
                let wish =
                    ModelWish { model: model.clone(), provider: provider.clone(), ..ModelWish::default() };
                models::choose(&self.runtime, &wish).await.map_err(|wrong| wrong.to_string())?
            }
        };
        let (relay, trace) = (Relay::default(), Arc::new(Mutex::new(Vec::new())));
        let terms = self.terms_of_child(task, parent);
        let seat =
            open::seat(&self.runtime, &terms, Opening::Named(child.to_owned()), models, &relay, &self.learnt);
        let seat = seat.await.map_err(|wrong| wrong.to_string())?;
        let (steps, outside) = (Arc::clone(&trace), self.relay.clone());
        let follower = Arc::new(move |event: Event| {
            if let Event::CallEnded { tool, status, result, .. } = &event {
                let mut steps = steps.lock().unwrap_or_else(PoisonError::into_inner);
                if steps.len() < MAX_TRACE {
                    let (tool, status) = (tool.clone(), (*status).to_owned());
                    steps.push(Step { tool, status, argument_bytes: 0, result_bytes: result.len() });
                }
                outside.tell(Event::Notice { text: format!("task {}: {tool}", at + 1) });
            }
            // What went wrong beside the call.
            if matches!(event, Event::Notice { .. }) {
                outside.tell(event);
            }
        });
        let _following = relay.follow(follower);
        let end = seat.driver.turn(&seat.id, vec![prompt(task)], &Steering::default(), &|_| {}, cancel).await;
        let end = seat.withheld.judged(end);
        let trace = std::mem::take(&mut *trace.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(told(end, trace, usize::try_from(settings.max_summary_chars).unwrap_or(usize::MAX)))
    }

    /// What holds for a child: its parent's terms, without what it may not have.
    fn terms_of_child(&self, task: &Task, parent: &str) -> Terms {
        let settings = self.runtime.settings().delegation;
        let mut terms = self.terms.clone();
        let withheld = WITHHELD.iter().chain((task.role == Role::Leaf).then_some(&"delegate_task"));
        let there = self.runtime.tools();
        terms.selection =
            terms.selection.without(withheld.copied().filter(|name| there.tool(name).is_some()));
        if settings.subagent_auto_approve {
            terms.approver = Arc::new(Agreeing);
        }
        terms.asker = None;
        "subagent".clone_into(&mut terms.source);
        terms.grants_of = terms.grants_of.or_else(|| Some(parent.to_owned()));
        terms.parent = Some((parent.to_owned(), Link::Delegation));
        terms.max_turns = Some(u32::try_from(settings.max_iterations).unwrap_or(u32::MAX));
        terms.generation += 1;
        terms
    }
}

/// Says yes to what would be asked about; what is never allowed is not asked about.
struct Agreeing;

impl Approver for Agreeing {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Approved(Grant::Once)))
    }
}

fn prompt(task: &Task) -> Part {
    let context = task.context.as_deref().map(|context| format!("\n\nWhat you need to know:\n{context}"));
    let text = format!(
        "Another agent hands you this task. Work on it to its end and answer with a report: what you did, \
         what you found, what is left.\n\nTask:\n{}{}",
        task.goal,
        context.unwrap_or_default()
    );
    Part::Text { text }
}

fn told(end: TurnEnd, trace: Vec<Step>, most: usize) -> End {
    let status = match end.status {
        TurnStatus::Answered | TurnStatus::OutOfBudget => EndStatus::Completed,
        TurnStatus::Interrupted => EndStatus::Interrupted,
        _ => EndStatus::Failed,
    };
    let summary = (!end.text.trim().is_empty()).then(|| end.text.chars().take(most).collect());
    End {
        status: if summary.is_none() && status == EndStatus::Completed { EndStatus::Failed } else { status },
        summary,
        api_calls: u64::from(end.model_calls),
        took: std::time::Duration::ZERO,
        model: Some(end.model),
        exit_reason: exit_reason(end.status).to_owned(),
        tokens: end.usage,
        trace,
        error: end.error,
        transcript: Some(end.session),
    }
}

fn exit_reason(status: TurnStatus) -> &'static str {
    match status {
        TurnStatus::Answered => "completed",
        TurnStatus::OutOfBudget => "max_iterations",
        TurnStatus::Interrupted => "interrupted",
        TurnStatus::Denied => "denied",
        TurnStatus::ProviderFailed => "provider_failed",
        _ => "failed",
    }
}

fn ended(status: EndStatus, why: String) -> End {
    End {
        status,
        summary: None,
        api_calls: 0,
        took: std::time::Duration::ZERO,
        model: None,
        exit_reason: status.word().to_owned(),
        tokens: Usage::default(),
        trace: Vec::new(),
        error: Some(why),
        transcript: None,
    }
}
