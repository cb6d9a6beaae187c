//! Looks after a connection: whether it is still there, what it offers now, when it has served its time;
//! and brings a lost one back.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};

use super::connect;
use super::known::Known;
use super::list;
use super::server::{Inner, Live};

/// How long a server has to answer whether it is still there.
const PATIENCE: Duration = Duration::from_secs(30);

impl Inner {
    /// Looks after a connection until it ends.
    pub(super) async fn mind(self: Arc<Self>, live: Arc<Live>) {
        let host = Arc::clone(&self.outside.host);
        let handle = live.handle.clone();
        loop {
            let tick = host.sleep(self.tick());
            tokio::select! {
                () = self.stop.cancelled() => return live.close().await,
                () = live.gone.cancelled() => break,
                () = live.client.changed.notified() => {
                    self.refresh(&live).await;
                    continue;
                }
                () = live.doubt.notified() => {}
                () = tick => {
                    if self.is_spent(&live) {
                        self.let_go(&live);
                        return live.close().await;
                    }
                    // One that does one thing after the other answers when it is done; calls have
                    // limits of their own.
                    if live.is_busy() {
                        continue;
                    }
                }
            }
            if !self.answers(&live).await {
                // Every request over the network has a connection of its own, and may yet be answered.
                if live.is_remote() && live.is_busy() {
                    continue;
                }
                self.lost(&live, "it no longer answers");
                break;
            }
        }
        let how = match &live.keeper {
            Some(keeper) => {
                let ended = select(keeper.ended(), host.sleep(Duration::from_millis(300))).await;
                match ended {
                    Either::Left((how, _)) => how,
                    Either::Right(_) => "it closed its output".to_owned(),
                }
            }
            None => "the connection was closed".to_owned(),
        };
        let said = self.log.last().map(|line| format!("; it last said: {line}")).unwrap_or_default();
        self.lost(&live, &format!("{how}{said}"));
        live.close().await;
        drop(live);
        self.come_back(&handle);
    }

    /// How long until the next look.
    fn tick(&self) -> Duration {
        [self.config.idle, self.config.lifetime]
            .into_iter()
            .flatten()
            .fold(self.config.keepalive, Duration::min)
    }

    /// Whether it has been idle, or there, for long enough.
    fn is_spent(&self, live: &Live) -> bool {
        let now = self.outside.host.now();
        let used = *live.used.lock().unwrap_or_else(PoisonError::into_inner);
        let over = |limit: Option<Duration>, since: Duration| {
            limit.is_some_and(|limit| now.saturating_sub(since) >= limit)
        };
        !live.is_busy() && (over(self.config.idle, used) || over(self.config.lifetime, live.since))
    }

    /// It is no longer the connection that calls are given.
    fn let_go(&self, live: &Arc<Live>) {
        let mut state = self.life();
        if state.live.as_ref().is_some_and(|known| Arc::ptr_eq(known, live)) {
            state.live = None;
        }
    }

    /// Whether it is still there. One that knows no ping is asked for its tools.
    async fn answers(&self, live: &Live) -> bool {
        let asked = Box::pin(connect::ping(&live.service));
        matches!(select(asked, self.outside.host.sleep(PATIENCE)).await, Either::Left((true, _)))
    }

    /// Its list of tools changed: asks for it again.
    async fn refresh(&self, live: &Live) {
        // Servers tell of every one of many changes; one look after the last is enough.
        self.outside.host.sleep(Duration::from_millis(50)).await;
        let asked = Box::pin(list::tools(self, &live.service));
        let listed = match select(asked, self.outside.host.sleep(PATIENCE)).await {
            Either::Left((Ok(listed), _)) => listed,
            Either::Left((Err(why), _)) => {
                return self.log.line(&format!("[its tools could not be listed: {}]", why.words()));
            }
            Either::Right(_) => return self.log.line("[its tools could not be listed in time]"),
        };
        let mut known = Known::clone(&self.known());
        listed.learnt_by(&mut known);
        if let Err(why) = self.keep(&known) {
            self.log.line(&format!("[what it offers could not be written down: {why}]"));
        }
    }

    /// Starts it again, later each time, until it works or is given up.
    pub(super) async fn bring_back(self: Arc<Self>) {
        while let Some(wait) = self.comes_back_in() {
            let wait = Box::pin(self.outside.host.sleep(wait));
            if let Either::Right(_) = select(wait, Box::pin(self.stop.cancelled())).await {
                return;
            }
            // What went wrong is written down where the start is.
            drop(self.live().await);
        }
    }
}

impl Live {
    /// Whether calls are on their way.
    fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire) > 0
    }
}
