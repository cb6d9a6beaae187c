//! Reads the accessibility trees of a page and of every frame in it.

use std::sync::Arc;

use futures::future::{join, join_all};
use hermes_core::error::ToolError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::browser::node::{Node, Tree};
use crate::browser::page::LOAD;
use crate::browser::refs::Element;
use crate::browser::snapshot;
use crate::browser::told::{Apart, Page};
use crate::browser::wire::WireError;

pub(crate) use crate::browser::snapshot::{Detail, Snapshot};

/// Frames that are looked into.
const MAX_FRAMES: usize = 40;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameTree {
    frame_tree: Frames,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frames {
    frame: Frame,
    #[serde(default)]
    child_frames: Vec<Frames>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    id: String,
    loader_id: String,
    #[serde(default)]
    url: String,
}

#[derive(Deserialize)]
struct Nodes {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    backend_node_id: i64,
}

/// A page as text, and the frames in it.
pub(crate) struct Captured {
    pub(crate) snapshot: Snapshot,
    /// Where it is.
    pub(crate) url: String,
    /// The frames in it, by address, where there are any.
    pub(crate) frames: Vec<Value>,
}

/// The frames of a page that are talked to in one way.
struct Group {
    session: Arc<str>,
    /// The outermost of them.
    root: Option<String>,
    /// Where that one stands in the page around it.
    apart: Option<Apart>,
}

impl Browser {
    /// Reads the page, once it is complete; nothing while a dialog is in the way.
    pub(crate) async fn capture(&self, detail: Detail) -> Result<Option<Captured>, ToolError> {
        // A page that changes while it is read is read once more.
        for last in [false, true] {
            self.settle(LOAD).await?;
            match self.read(detail).await {
                Err(WireError::Dialog) => return Ok(None),
                Err(WireError::Said(_) | WireError::Gone(_)) if !last => {}
                other => return Ok(Some(other?)),
            }
        }
        Ok(None)
    }

    async fn read(&self, detail: Detail) -> Result<Captured, WireError> {
        let page = self.page().map_err(|wrong| WireError::Said(wrong.to_string()))?;
        let mut trees: Vec<Tree> = Vec::new();
        let mut frames = Vec::new();
        for group in groups(&page) {
            let (told, outermost) =
                join(self.frames(&group), self.nodes(&group.session, group.root.as_deref())).await;
            let (told, outermost) = match (told, outermost) {
                (Ok(told), Ok(outermost)) => (told.frame_tree, outermost),
                // A frame that is gone by now is not missed, a page would be.
                (Err(wrong), _) | (_, Err(wrong)) if group.apart.is_some() && is_missing(&wrong) => continue,
                (Err(wrong), _) | (_, Err(wrong)) => return Err(wrong),
            };
            let within = match &group.apart {
                None => None,
                Some(apart) => self.standing(&trees, apart).await?,
            };
            if within.is_some() || trees.is_empty() {
                let first = trees.len();
                trees.push(tree(&group.session, &told.frame, within, outermost.nodes));
                frames.extend(group.apart.is_some().then(|| shown(&told.frame)));
                self.children(&group.session, &told, first, &mut trees, &mut frames).await?;
            }
        }
        let snapshot = snapshot::write(&trees, &mut self.refs(), detail);
        Ok(Captured { snapshot, url: page.url, frames })
    }

    async fn frames(&self, group: &Group) -> Result<FrameTree, WireError> {
        self.ask(&group.session, "Page.getFrameTree", json!({})).await
    }

    async fn nodes(&self, session: &str, frame: Option<&str>) -> Result<Nodes, WireError> {
        let params = frame.map_or_else(|| json!({}), |frame| json!({ "frameId": frame }));
        self.ask(session, "Accessibility.getFullAXTree", params).await
    }

    /// Reads the frames below one that is in `trees` at `around`, level by level.
    async fn children(
        &self,
        session: &Arc<str>,
        outermost: &Frames,
        around: usize,
        trees: &mut Vec<Tree>,
        shown_frames: &mut Vec<Value>,
    ) -> Result<(), WireError> {
        let mut level: Vec<(usize, &Frames)> = outermost.child_frames.iter().map(|it| (around, it)).collect();
        while !level.is_empty() && trees.len() < MAX_FRAMES {
            level.truncate(MAX_FRAMES - trees.len());
            let read = join_all(level.iter().map(|(_, inner)| async {
                let owner = self.owner(session, &inner.frame.id);
                join(owner, self.nodes(session, Some(&inner.frame.id))).await
            }))
            .await;
            let mut next = Vec::new();
            for ((around, inner), (owner, nodes)) in level.iter().zip(read) {
                let (owner, nodes) = match (owner, nodes) {
                    (Ok(owner), Ok(nodes)) => (owner, nodes.nodes),
                    (Err(wrong), _) | (_, Err(wrong)) if is_missing(&wrong) => continue,
                    (Err(wrong), _) | (_, Err(wrong)) => return Err(wrong),
                };
                let here = trees.len();
                trees.push(tree(session, &inner.frame, Some((*around, owner.backend_node_id)), nodes));
                shown_frames.push(shown(&inner.frame));
                next.extend(inner.child_frames.iter().map(|it| (here, it)));
            }
            level = next;
        }
        Ok(())
    }

    async fn owner(&self, session: &str, frame: &str) -> Result<Owner, WireError> {
        self.ask(session, "DOM.getFrameOwner", json!({ "frameId": frame })).await
    }

    /// Where a frame with a process of its own stands: which tree it is in, and its element there.
    async fn standing(&self, trees: &[Tree], apart: &Apart) -> Result<Option<(usize, i64)>, WireError> {
        let owner = match self.owner(&apart.around, &apart.frame).await {
            Ok(owner) => owner.backend_node_id,
            Err(wrong) if is_missing(&wrong) => return Ok(None),
            Err(wrong) => return Err(wrong),
        };
        let holds = |tree: &Tree| *tree.place.session == *apart.around && tree.holds(owner);
        Ok(trees.iter().position(holds).map(|at| (at, owner)))
    }
}

/// Whether a frame is not there, or not any more.
fn is_missing(wrong: &WireError) -> bool {
    matches!(wrong, WireError::Said(_) | WireError::Gone(_))
}

/// The page itself, then its frames that live apart, those further out first.
fn groups(page: &Page) -> Vec<Group> {
    let own = Group { session: page.session.as_str().into(), root: Some(page.frame.clone()), apart: None };
    let apart = page.apart.iter().take(MAX_FRAMES).map(|frame| Group {
        session: frame.session.as_str().into(),
        root: None,
        apart: Some(frame.clone()),
    });
    std::iter::once(own).chain(apart).collect()
}

fn tree(session: &Arc<str>, frame: &Frame, within: Option<(usize, i64)>, nodes: Vec<Node>) -> Tree {
    let place = Element {
        session: Arc::clone(session),
        frame: frame.id.as_str().into(),
        document: frame.loader_id.as_str().into(),
        node: 0,
    };
    Tree { place, within, nodes }
}

fn shown(frame: &Frame) -> Value {
    json!({ "frame_id": frame.id, "url": frame.url })
}
