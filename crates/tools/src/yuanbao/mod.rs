//! What the `yb_*` tools share: the connection, who is meant by a name, which sticker.

use std::sync::Arc;

use hermes_core::cx::ToolCx;
use hermes_core::effect::{Act, ActKind, Effect};
use hermes_core::error::ToolError;
use hermes_core::gate::Gate;
use hermes_core::permit::{Connect, Permit};
use hermes_core::yuanbao::{Member, MemberKind, SERVICE, Sticker, Yuanbao, YuanbaoError};
use serde_json::{Value, json};

use crate::api::{set, shortened};

/// Most names that are offered where one fits several.
const OFFERED: usize = 10;

/// When the tools are there.
pub(crate) fn gate() -> Gate {
    Gate::given::<Arc<dyn Yuanbao>>("a connection to Yuanbao, which a running gateway has")
}

/// What a call declares.
pub(crate) fn connects() -> Effect {
    Effect::Connect(SERVICE.to_owned())
}

/// What a call declares that sends something.
pub(crate) fn sends(detail: &str) -> Vec<Effect> {
    let detail = format!("{SERVICE}: {}", shortened(detail, 600));
    vec![connects(), Effect::Act(Act { kind: ActKind::Send, detail })]
}

/// The connection.
pub(crate) fn desk(cx: &ToolCx) -> Result<&Arc<dyn Yuanbao>, ToolError> {
    cx.service::<Arc<dyn Yuanbao>>()
        .ok_or_else(|| ToolError::Failed("there is no connection to Yuanbao".to_owned()))
}

/// Permission to use it once.
pub(crate) fn permit(cx: &ToolCx) -> Result<Permit<Connect>, ToolError> {
    cx.may_connect(SERVICE)
}

/// Yuanbao's refusal as a failure of the call.
pub(crate) fn failed(YuanbaoError(why): YuanbaoError) -> ToolError {
    ToolError::Failed(format!("{SERVICE}: {why}"))
}

/// A member in a line.
pub(crate) fn row(member: &Member, mention: bool) -> Value {
    let kind = match member.kind {
        MemberKind::Person => "person",
        MemberKind::Bot => "bot",
        MemberKind::Yuanbao => "yuanbao",
    };
    let mut row = json!({ "user_id": member.id, "name": member.name, "kind": kind });
    if mention {
        set(&mut row, "mention", json!(format!("@{}", member.name)));
    }
    row
}

/// The members whose name is this, or else has it in it.
pub(crate) fn called<'a>(members: &'a [Member], name: &str) -> Vec<&'a Member> {
    let wanted = name.trim().trim_start_matches('@').to_lowercase();
    let find = |fits: &dyn Fn(&str) -> bool| -> Vec<&'a Member> {
        members.iter().filter(|member| fits(&member.name.to_lowercase())).collect()
    };
    let exact = find(&|name| name == wanted);
    if exact.is_empty() && !wanted.is_empty() { find(&|name| name.contains(&wanted)) } else { exact }
}

/// The one member who is meant.
pub(crate) fn only<'a>(members: &'a [Member], name: &str) -> Result<&'a Member, ToolError> {
    match called(members, name).as_slice() {
        [only] => Ok(only),
        [] => Err(ToolError::Failed(format!("nobody in the group is called {name:?}"))),
        several => {
            let names: Vec<String> = several
                .iter()
                .take(OFFERED)
                .map(|member| format!("{} ({})", member.name, member.id))
                .collect();
            Err(ToolError::Failed(format!("{name:?} may be {}; give the user_id", names.join(", "))))
        }
    }
}

/// The stickers that fit some words, best first; all without words.
pub(crate) fn fitting<'a>(stickers: &'a [Sticker], words: &str) -> Vec<&'a Sticker> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let score = |sticker: &Sticker| {
        let (name, about) = (sticker.name.to_lowercase(), sticker.description.to_lowercase());
        let one = |word: &String| match word {
            word if name == *word || sticker.id == *word => 8,
            word if name.contains(word.as_str()) => 4,
            word if about.contains(word.as_str()) => 1,
            _ => 0,
        };
        words.iter().map(one).sum::<u32>()
    };
    let mut scored: Vec<(u32, &Sticker)> = stickers.iter().map(|sticker| (score(sticker), sticker)).collect();
    if !words.is_empty() {
        scored.retain(|(score, _)| *score > 0);
    }
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, sticker)| sticker).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(id: &str, name: &str) -> Member {
        Member { id: id.to_owned(), name: name.to_owned(), kind: MemberKind::Person }
    }

    #[test]
    fn a_name_means_one_member_or_is_asked_about() {
        let members = [member("1", "Ann"), member("2", "Anna"), member("3", "小明")];

        assert_eq!(only(&members, "@ann").unwrap().id, "1");
        assert_eq!(only(&members, "明").unwrap().id, "3");
        assert!(only(&members, "an").unwrap_err().to_string().contains("Ann (1), Anna (2)"));
        assert!(only(&members, "bob").unwrap_err().to_string().contains("nobody"));
        assert!(only(&members, "").is_err());
    }

    #[test]
    fn the_sticker_that_fits_best_comes_first() {
        let sticker = |id: &str, name: &str, about: &str| Sticker {
            id: id.to_owned(),
            name: name.to_owned(),
            description: about.to_owned(),
        };
        let all =
            [sticker("1", "cat cry", "sad"), sticker("2", "sad", "tears"), sticker("3", "dance", "glad")];

        let ids = |words: &str| fitting(&all, words).iter().map(|it| it.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids("sad"), ["2", "1"]);
        assert_eq!(ids("3"), ["3"]);
        assert_eq!(ids(" "), ["1", "2", "3"]);
        assert!(ids("zebra").is_empty());
    }
}
