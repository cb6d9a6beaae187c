//! A picture of the page as it is on the screen, with or without the refs in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::join_all;
use hermes_core::error::ToolError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::browser::capture::Detail;
use crate::browser::wire::WireError;

/// Most marks in one picture.
const MAX_MARKS: usize = 150;

/// Marks elements by number and box; a second call takes the marks away.
const MARK: &str = r"((marks) => {
    const id = '__hermes_marks';
    document.getElementById(id)?.remove();
    if (!marks.length) return;
    const over = document.createElement('div');
    over.id = id;
    over.style.cssText = 'all:initial;position:fixed;inset:0;pointer-events:none;z-index:2147483647';
    for (const [n, x, y, w, h] of marks) {
        const box = document.createElement('div');
        box.style.cssText = `position:absolute;left:${x}px;top:${y}px;width:${w}px;height:${h}px;`
            + 'outline:2px solid #d00;';
        const label = document.createElement('span');
        label.textContent = '@e' + n;
        label.style.cssText = 'position:absolute;left:0;top:-1px;background:#d00;color:#fff;'
            + 'font:bold 11px/13px sans-serif;padding:0 2px;';
        box.append(label);
        over.append(box);
    }
    document.documentElement.append(over);
})";

#[derive(Deserialize)]
struct Shot {
    data: String,
}

#[derive(Deserialize)]
struct Quads {
    quads: Vec<Vec<f64>>,
}

/// A picture.
pub(crate) struct Picture {
    /// A PNG file.
    pub(crate) bytes: Vec<u8>,
    /// How many elements are marked in it.
    pub(crate) marked: usize,
}

impl Browser {
    /// Takes a picture of what is on the screen.
    pub(crate) async fn picture(&self, session: &str, annotate: bool) -> Result<Picture, ToolError> {
        let marks = if annotate { self.marks().await? } else { Vec::new() };
        if annotate {
            self.evaluate(session, &format!("{MARK}({})", json!(marks))).await?;
        }
        let shot = self.ask::<Shot>(session, "Page.captureScreenshot", json!({ "format": "png" })).await;
        if annotate {
            self.evaluate(session, &format!("{MARK}([])")).await?;
        }
        let bytes = STANDARD.decode(shot?.data);
        let bytes = bytes.map_err(|_| WireError::Garbled("Page.captureScreenshot".to_owned()))?;
        Ok(Picture { bytes, marked: marks.len() })
    }

    /// Number and box of every element that has a ref and a place on the screen.
    async fn marks(&self) -> Result<Vec<Value>, ToolError> {
        let Some(captured) = self.capture(Detail::Compact).await? else { return Ok(Vec::new()) };
        let shown = captured.snapshot.shown.iter().take(MAX_MARKS);
        let boxes = join_all(shown.map(|(name, element)| async move {
            let params = json!({ "backendNodeId": element.node });
            let measured: Quads = self.ask(&element.session, "DOM.getContentQuads", params).await.ok()?;
            let offset = self.offset(&element.session).await.ok()?;
            mark(*name, measured.quads.first()?, offset)
        }))
        .await;
        Ok(boxes.into_iter().flatten().collect())
    }
}

/// Number, left, top, width and height; nothing for what has no size.
fn mark(name: u32, quad: &[f64], (x, y): (f64, f64)) -> Option<Value> {
    let (xs, ys) = (quad.iter().step_by(2), quad.iter().skip(1).step_by(2));
    let ends = |mut values: Box<dyn Iterator<Item = &f64> + '_>| {
        let first = *values.next()?;
        Some(values.fold((first, first), |(low, high), value| (low.min(*value), high.max(*value))))
    };
    let ((left, right), (top, bottom)) = (ends(Box::new(xs))?, ends(Box::new(ys))?);
    let visible = right > left && bottom > top && right > 0.0 && bottom > 0.0;
    visible.then(|| json!([name, left + x, top + y, right - left, bottom - top]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_the_box_around_the_corners() {
        let quad = [10.0, 20.0, 30.0, 20.0, 30.0, 25.0, 10.0, 25.0];

        assert_eq!(mark(4, &quad, (100.0, 0.0)), Some(json!([4, 110.0, 20.0, 20.0, 5.0])));
        assert_eq!(mark(4, &[1.0, 1.0, 1.0, 1.0], (0.0, 0.0)), None);
        assert_eq!(mark(4, &[], (0.0, 0.0)), None);
    }
}
