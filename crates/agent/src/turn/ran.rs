//! What follows from the results of calls.

use hermes_core::outcome::{Outcome, Status};

use super::batch::{Batch, Missing};
use super::{Phase, Turn, words};
use crate::event::TurnStatus;

/// Batches in a row that come to nothing before the turn ends.
const STRIKES: u32 = 3;
/// Batches in a row that are denied from first to last before the turn ends.
const DENIALS: u32 = 8;
/// Batches in a row that are the same, and come to the same, before the turn ends.
const SAME: u32 = 30;

impl Turn {
    /// The calls are over. Every call of the answer gets a result, whatever came back; `harmless`
    /// tells of a tool's name whether it leaves the world outside the session as it was.
    pub fn ran(&mut self, outcomes: &[Outcome], harmless: &dyn Fn(&str) -> bool) {
        if !matches!(self.phase, Phase::Run(_)) {
            return;
        }
        let Phase::Run(batch) = std::mem::replace(&mut self.phase, Phase::Ask) else { return };
        self.outbox.extend(batch.results(outcomes, Missing::NoWord));
        self.count(&batch, outcomes, harmless);
        let digest = batch.digest(outcomes);
        self.same = if self.last_batch == Some(digest) { self.same.saturating_add(1) } else { 1 };
        self.last_batch = Some(digest);
        self.tools_ran = true;
        if self.strikes >= STRIKES {
            return self.stop(TurnStatus::Failed, "", Some(words::NOTHING_BUT_STRIKES.to_owned()));
        }
        if self.denials >= DENIALS {
            let status = if self.tally.acted == 0 { TurnStatus::Denied } else { TurnStatus::Failed };
            return self.stop(status, "", Some(words::NOTHING_BUT_DENIALS.to_owned()));
        }
        if self.same >= SAME {
            return self.stop(TurnStatus::Failed, "", Some(words::NOTHING_NEW.to_owned()));
        }
        self.say_steer();
        self.ask_on();
    }

    /// How a turn that ends with an answer ended.
    ///
    /// It was denied when something was denied and nothing that is not harmless went through: what
    /// was asked for did not happen, and a script that reads the exit code must know. A turn that was
    /// denied one way and found another has done something, and is answered; so is one that was only
    /// unlucky, because failed calls are not denials.
    pub(super) fn answered_status(&self) -> TurnStatus {
        if self.tally.denied > 0 && self.tally.acted == 0 { TurnStatus::Denied } else { TurnStatus::Answered }
    }

    fn count(&mut self, batch: &Batch, outcomes: &[Outcome], harmless: &dyn Fn(&str) -> bool) {
        let count = |wanted: &dyn Fn(&Outcome) -> bool| {
            u32::try_from(outcomes.iter().filter(|outcome| wanted(outcome)).count()).unwrap_or(u32::MAX)
        };
        let denied = count(&|outcome| outcome.status == Status::Denied);
        let acted = count(&|outcome| outcome.status.is_done() && !harmless(&outcome.tool));
        let vain = count(&|outcome| matches!(outcome.status, Status::Unknown | Status::Repeated));
        let all = count(&|_| true);
        let in_a_row =
            |so_far: u32, some: u32| if some == all && all > 0 { so_far.saturating_add(1) } else { 0 };
        self.strikes = in_a_row(self.strikes, vain);
        self.denials = in_a_row(self.denials, denied);
        let calls = u32::try_from(batch.len()).unwrap_or(u32::MAX);
        self.tally.tool_calls = self.tally.tool_calls.saturating_add(calls);
        self.tally.denied = self.tally.denied.saturating_add(denied);
        self.tally.acted = self.tally.acted.saturating_add(acted);
        if batch.is_only(&self.settings.unmetered) && self.refunded < self.settings.budget {
            self.refunded += 1;
            self.spent = self.spent.saturating_sub(1);
        }
    }
}
