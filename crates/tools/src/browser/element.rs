//! What is done with one element: it is clicked, or something is written into it.

use futures::future::join3;
use hermes_core::error::ToolError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::browser::keys::Press;
use crate::browser::page::Settled;
use crate::browser::refs::Element;
use crate::browser::wire::WireError;

/// Clicks an element that has no place on the screen, such as the entry of a list that is not unfolded.
const CLICK: &str = r"function () {
    if (this instanceof HTMLOptionElement && this.closest('select')) {
        const list = this.closest('select');
        this.selected = list.multiple ? !this.selected : true;
        list.dispatchEvent(new Event('input', { bubbles: true }));
        list.dispatchEvent(new Event('change', { bubbles: true }));
        return;
    }
    (this instanceof Element ? this : this.parentElement).click();
}";

/// Makes an element ready to be written into, or writes itself where keys would not do; says which.
const PREPARE: &str = r"function (text) {
    const said = (it) => { it.dispatchEvent(new Event('input', { bubbles: true }));
                           it.dispatchEvent(new Event('change', { bubbles: true })); };
    const it = this;
    if (it.disabled || it.readOnly) return 'locked';
    if (it instanceof HTMLSelectElement) {
        const wanted = text.trim();
        const all = [...it.options];
        const one = all.find((o) => o.value === wanted || o.label.trim() === wanted)
            || all.find((o) => o.label.trim().toLowerCase() === wanted.toLowerCase());
        if (!one) return 'options:' + all.map((o) => o.label.trim()).join(', ');
        it.value = one.value;
        said(it);
        return 'done';
    }
    if (it instanceof HTMLInputElement) {
        if (it.type === 'file') return 'file';
        if (['checkbox', 'radio', 'button', 'submit', 'reset', 'image'].includes(it.type)) return 'none';
        if (['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range'].includes(it.type)) {
            Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(it, text);
            said(it);
            return it.value === '' && text !== '' ? 'value' : 'done';
        }
    }
    it.scrollIntoView({ block: 'center', inline: 'nearest' });
    it.focus();
    if (typeof it.select === 'function') it.select();
    else if (it.isContentEditable) {
        const all = document.createRange();
        all.selectNodeContents(it);
        const chosen = getSelection();
        chosen.removeAllRanges();
        chosen.addRange(all);
    } else return 'none';
    return it.type === 'password' ? 'secret' : 'ready';
}";

#[derive(Deserialize)]
struct Quads {
    quads: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    backend_node_id: i64,
}

#[derive(Deserialize)]
struct BoxModel {
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    content: Vec<f64>,
}

#[derive(Deserialize)]
struct Resolved {
    object: Object,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    object_id: String,
}

#[derive(Deserialize)]
struct Called {
    result: Value,
}

/// A field that was filled in.
pub(crate) struct Filled {
    /// How far the page came.
    pub(crate) settled: Settled,
    /// Whether it does not show what it holds.
    pub(crate) secret: bool,
}

impl Browser {
    /// The element that a ref stands for, if its document is still there, with the words for it.
    pub(crate) fn element(&self, reference: &str) -> Result<(Element, String), ToolError> {
        let (element, words) = self.refs().find(reference).map_err(ToolError::Arguments)?;
        let document = self.wire.state(|state| state.document(&element.frame).map(str::to_owned));
        if document.is_some_and(|now| now != *element.document) {
            return Err(gone(reference));
        }
        Ok((element, words))
    }

    /// Clicks.
    pub(crate) async fn click(&self, reference: &str, element: &Element) -> Result<Settled, ToolError> {
        let place = match self.place(element).await {
            Ok(place) => place,
            Err(WireError::Dialog) => return Ok(Settled::Dialog),
            Err(wrong) if is_gone(&wrong) => return Err(gone(reference)),
            Err(wrong) => return Err(wrong.into()),
        };
        let clicked = match place {
            Some(place) => self.mouse(place).await,
            None => self.call_on(element, CLICK, json!([])).await.map(drop),
        };
        match clicked {
            // A page that closed itself when it was clicked has been clicked.
            Ok(()) | Err(WireError::Gone(_)) => self.after_act_in(&element.session).await,
            Err(WireError::Dialog) => Ok(Settled::Dialog),
            Err(wrong) if is_gone(&wrong) => Err(gone(reference)),
            Err(wrong) => Err(wrong.into()),
        }
    }

    /// The middle of an element on the screen, after it was brought there; none if it has no place.
    pub(crate) async fn place(&self, element: &Element) -> Result<Option<(f64, f64)>, WireError> {
        let node = json!({ "backendNodeId": element.node });
        let scrolled = self.ask::<IgnoredAny>(&element.session, "DOM.scrollIntoViewIfNeeded", node.clone());
        let measured = self.ask::<Quads>(&element.session, "DOM.getContentQuads", node);
        // Asked together, answered in this order.
        let (scrolled, measured) = futures::future::join(scrolled, measured).await;
        match scrolled {
            Err(wrong) if is_gone(&wrong) => return Err(wrong),
            Err(WireError::Said(_)) | Ok(_) => {}
            Err(wrong) => return Err(wrong),
        }
        let quads = match measured {
            Ok(measured) => measured.quads,
            Err(wrong) if is_gone(&wrong) => return Err(wrong),
            Err(WireError::Said(_)) => return Ok(None),
            Err(wrong) => return Err(wrong),
        };
        let Some(middle) = quads.iter().find_map(|quad| middle(quad)) else { return Ok(None) };
        let offset = self.offset(&element.session).await?;
        Ok(Some((middle.0 + offset.0, middle.1 + offset.1)))
    }

    /// Where a frame with a process of its own stands in its page.
    pub(crate) async fn offset(&self, session: &str) -> Result<(f64, f64), WireError> {
        let (mut x, mut y) = (0.0, 0.0);
        let mut here = session.to_owned();
        loop {
            let find = |state: &mut crate::browser::state::State| {
                state.page()?.apart.iter().find(|frame| frame.session == here).cloned()
            };
            let Some(frame) = self.wire.state(find) else { return Ok((x, y)) };
            let params = json!({ "frameId": frame.frame });
            let owner: Owner = self.ask(&frame.around, "DOM.getFrameOwner", params).await?;
            let params = json!({ "backendNodeId": owner.backend_node_id });
            let around: BoxModel = self.ask(&frame.around, "DOM.getBoxModel", params).await?;
            if let [left, top, ..] = around.model.content.as_slice() {
                (x, y) = (x + left, y + top);
            }
            here = frame.around;
        }
    }

    /// Moves the mouse there and clicks.
    async fn mouse(&self, (x, y): (f64, f64)) -> Result<(), WireError> {
        let Some(session) = self.wire.state(|state| state.page().map(|page| page.session.clone())) else {
            return Ok(());
        };
        let event = |kind: &str, count: u8| {
            let button = if count == 0 { "none" } else { "left" };
            let params = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": count });
            self.ask::<IgnoredAny>(&session, "Input.dispatchMouseEvent", params)
        };
        let done = join3(event("mouseMoved", 0), event("mousePressed", 1), event("mouseReleased", 1)).await;
        match done {
            (Ok(_), Ok(_), Ok(_)) => Ok(()),
            (Err(wrong), ..) | (_, Err(wrong), _) | (.., Err(wrong)) => Err(wrong),
        }
    }

    /// Writes a text into an element in place of what it holds.
    pub(crate) async fn fill(
        &self,
        reference: &str,
        element: &Element,
        text: &str,
    ) -> Result<Filled, ToolError> {
        let done = |settled| Ok(Filled { settled, secret: false });
        let prepared = match self.call_on(element, PREPARE, json!([{ "value": text }])).await {
            Ok(prepared) => prepared,
            Err(WireError::Dialog) => return done(Settled::Dialog),
            Err(wrong) if is_gone(&wrong) => return Err(gone(reference)),
            Err(wrong) => return Err(wrong.into()),
        };
        let secret = match prepared.as_str().unwrap_or_default() {
            "ready" => false,
            "secret" => true,
            "done" => return done(self.after_act().await?),
            other => return Err(ToolError::Failed(unfit(reference, other))),
        };
        let (method, params) = if text.is_empty() {
            let key =
                json!({ "type": "keyDown", "key": "Delete", "code": "Delete", "windowsVirtualKeyCode": 46 });
            ("Input.dispatchKeyEvent", key)
        } else {
            ("Input.insertText", json!({ "text": text }))
        };
        match self.ask::<IgnoredAny>(&element.session, method, params).await {
            Ok(_) | Err(WireError::Gone(_)) => Ok(Filled { settled: self.after_act().await?, secret }),
            Err(WireError::Dialog) => Ok(Filled { settled: Settled::Dialog, secret }),
            Err(wrong) => Err(wrong.into()),
        }
    }

    /// Presses a key where the page has its focus.
    pub(crate) async fn press(&self, session: &str, press: &Press) -> Result<Settled, ToolError> {
        let event = |kind: &str| {
            let mut params = json!({
                "type": kind, "key": press.key, "code": press.code, "modifiers": press.modifiers,
                "windowsVirtualKeyCode": press.number, "commands": press.commands,
            });
            if let (Some(text), "keyDown", Some(fields)) = (&press.text, kind, params.as_object_mut()) {
                fields.insert("text".to_owned(), json!(text));
            }
            self.ask::<IgnoredAny>(session, "Input.dispatchKeyEvent", params)
        };
        let down = if press.text.is_some() { "keyDown" } else { "rawKeyDown" };
        match futures::future::join(event(down), event("keyUp")).await {
            (Ok(_), Ok(_)) | (Err(WireError::Gone(_)), _) | (_, Err(WireError::Gone(_))) => {
                self.after_act().await
            }
            (Err(WireError::Dialog), _) | (_, Err(WireError::Dialog)) => Ok(Settled::Dialog),
            (Err(wrong), _) | (_, Err(wrong)) => Err(wrong.into()),
        }
    }

    /// Calls a function on an element; what it came to.
    pub(crate) async fn call_on(
        &self,
        element: &Element,
        function: &str,
        arguments: Value,
    ) -> Result<Value, WireError> {
        let session = &*element.session;
        let resolved: Resolved =
            self.ask(session, "DOM.resolveNode", json!({ "backendNodeId": element.node })).await?;
        let params = json!({
            "objectId": resolved.object.object_id, "functionDeclaration": function, "arguments": arguments,
            "returnByValue": true, "userGesture": true,
        });
        let called: Called = self.ask(session, "Runtime.callFunctionOn", params).await?;
        Ok(called.result.get("value").cloned().unwrap_or_default())
    }
}

/// Why nothing was written into an element.
fn unfit(reference: &str, why: &str) -> String {
    match why {
        "locked" => format!("{reference} is disabled or can only be read"),
        "value" => format!("{reference} does not take this value; dates are YYYY-MM-DD, colours #rrggbb"),
        "file" => format!(
            "{reference} takes files: use browser_cdp with method DOM.setFileInputFiles and params \
             {{\"files\": [\"path\"], \"backendNodeId\": \"{reference}\"}}"
        ),
        _ => match why.strip_prefix("options:") {
            Some(options) => format!("{reference} has no such entry; it has: {options}"),
            None => format!("{reference} is nothing that text can be written into"),
        },
    }
}

/// The middle of four corners, unless they enclose nothing.
fn middle(quad: &[f64]) -> Option<(f64, f64)> {
    let &[x1, y1, x2, y2, x3, y3, x4, y4] = quad else { return None };
    // Twice the area, by the shoelace formula.
    let area = (x1 * y2 - x2 * y1) + (x2 * y3 - x3 * y2) + (x3 * y4 - x4 * y3) + (x4 * y1 - x1 * y4);
    (area.abs() > 1.0).then_some(((x1 + x2 + x3 + x4) / 4.0, (y1 + y2 + y3 + y4) / 4.0))
}

/// Whether there is no such element any more, or no page for it.
fn is_gone(wrong: &WireError) -> bool {
    let words = ["No node", "not find node", "does not belong", "Node is detached", "find context"];
    match wrong {
        WireError::Gone(_) => true,
        WireError::Said(why) => words.iter().any(|known| why.contains(known)),
        _ => false,
    }
}

fn gone(reference: &str) -> ToolError {
    ToolError::Failed(format!("{reference} is no longer on the page; take a new snapshot"))
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn the_middle_of_something_is_inside_of_it() {
        assert_eq!(middle(&[0.0, 0.0, 10.0, 0.0, 10.0, 4.0, 0.0, 4.0]), Some((5.0, 2.0)));
        assert_eq!(middle(&[3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]), None);
        assert_eq!(middle(&[1.0]), None);
    }
}
