//! A plugin as it stands in the roster: what nearly every one has is packed, and so read in no time; whatever else
//! one has follows as JSON.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_core::json::JsonText;
use hermes_core::packed::{Packer, Unpacker};
use hermes_extend::plugins::manifest::Manifest;
use hermes_extend::plugins::offer::{Offer, OfferedTool};
use hermes_extend::plugins::start::Code;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::choose::Chosen;
use crate::foreign::find_plugins::{Found, Origin};

/// A plugin that runs, what its offer is remembered by where that is not what it is known by itself, and the offer.
pub(super) struct Record {
    pub(super) chosen: Arc<Chosen>,
    pub(super) known_by: Option<String>,
    pub(super) offer: Arc<Offer>,
}

/// Packs a plugin; nothing where it cannot be, because it has a name that is no text.
pub(super) fn pack(
    packer: &mut Packer,
    chosen: &Chosen,
    known_by: Option<&str>,
    offer: &Offer,
) -> Option<()> {
    let Found { key, origin, code, place, manifest } = &chosen.found;
    packer.text(key).text(&chosen.identity).text(known_by.unwrap_or_default());
    packer.number(match origin {
        Origin::User => 0,
        Origin::Project => 1,
        Origin::Package => 2,
    });
    match code {
        Code::Folder(folder) => packer.flag(true).text(folder.to_str()?),
        Code::EntryPoint(target) => packer.flag(false).text(target),
    };
    packer.text(place.as_ref().map_or(Some(""), |place| place.to_str())?);
    match manifest {
        Ok(manifest) => pack_manifest(packer.flag(true), manifest)?,
        Err(broken) => _ = packer.flag(false).text(&serde_json::to_string(broken).ok()?),
    }
    pack_offer(packer, offer)
}

/// Takes out what was packed.
pub(super) fn unpack(packed: &mut Unpacker<'_>) -> Option<Record> {
    let (key, identity, known_by) = (packed.text()?, packed.text()?, packed.text()?);
    let origin = match packed.number()? {
        0 => Origin::User,
        1 => Origin::Project,
        _ => Origin::Package,
    };
    let code = match (packed.flag()?, packed.text()?) {
        (true, folder) => Code::Folder(folder.into()),
        (false, target) => Code::EntryPoint(target.to_owned()),
    };
    let place = Some(packed.text()?).filter(|place| !place.is_empty()).map(PathBuf::from);
    let manifest = if packed.flag()? {
        Ok(unpack_manifest(packed)?)
    } else {
        Err(serde_json::from_str(packed.text()?).ok()?)
    };
    let found = Found { key: key.to_owned(), origin, code, place, manifest };
    Some(Record {
        chosen: Chosen::new(found, identity.to_owned()),
        known_by: Some(known_by).filter(|by| !by.is_empty()).map(str::to_owned),
        offer: Arc::new(unpack_offer(packed)?),
    })
}

fn pack_manifest(packer: &mut Packer, manifest: &Manifest) -> Option<()> {
    let mut rest = manifest.clone();
    for part in [&mut rest.name, &mut rest.version, &mut rest.description, &mut rest.author] {
        packer.text(&std::mem::take(part));
    }
    pack_rest(packer, &rest)
}

fn unpack_manifest(packed: &mut Unpacker<'_>) -> Option<Manifest> {
    let mut text = || packed.text().map(str::to_owned);
    let (name, version, description, author) = (text()?, text()?, text()?, text()?);
    Some(Manifest { name, version, description, author, ..unpack_rest(packed)? })
}

fn pack_offer(packer: &mut Packer, offer: &Offer) -> Option<()> {
    let mut rest = offer.clone();
    let (tools, hooks) = (std::mem::take(&mut rest.tools), std::mem::take(&mut rest.hooks));
    let mut done = Some(());
    packer.list(tools.into_iter(), |packer, tool| done = done.and(pack_tool(packer, tool)));
    packer.list(hooks.iter(), |packer, hook| _ = packer.text(hook));
    done.and(pack_rest(packer, &rest))
}

fn unpack_offer(packed: &mut Unpacker<'_>) -> Option<Offer> {
    let tools = packed.list(unpack_tool)?;
    let hooks = packed.list(|packed| packed.text().map(str::to_owned))?;
    Some(Offer { tools, hooks, ..unpack_rest(packed)? })
}

fn pack_tool(packer: &mut Packer, mut tool: OfferedTool) -> Option<()> {
    let (schema, fit) = (std::mem::take(&mut tool.schema), std::mem::take(&mut tool.fit));
    for part in [&mut tool.name, &mut tool.toolset, &mut tool.description] {
        packer.text(&std::mem::take(part));
    }
    packer.text(&schema.text()).number(fit.into());
    pack_rest(packer, &tool)
}

fn unpack_tool(packed: &mut Unpacker<'_>) -> Option<OfferedTool> {
    let mut text = || packed.text().map(str::to_owned);
    let (name, toolset, description) = (text()?, text()?, text()?);
    let (schema, fit) = (JsonText::kept(packed.text()?), u32::try_from(packed.number()?).ok()?);
    Some(OfferedTool { name, toolset, description, schema, fit, ..unpack_rest(packed)? })
}

/// What is left of something once its usual parts are out: mostly nothing.
fn pack_rest<T: Serialize + Default + PartialEq>(packer: &mut Packer, rest: &T) -> Option<()> {
    let text = if *rest == T::default() { String::new() } else { serde_json::to_string(rest).ok()? };
    packer.text(&text);
    Some(())
}

fn unpack_rest<T: DeserializeOwned + Default>(packed: &mut Unpacker<'_>) -> Option<T> {
    match packed.text()? {
        "" => Some(T::default()),
        rest => serde_json::from_str(rest).ok(),
    }
}

#[cfg(test)]
mod tests {
    use hermes_extend::plugins::offer::OfferedCommand;
    use serde_json::json;

    use super::*;
    use crate::foreign::find_plugins::Broken;

    fn chosen(manifest: Result<Manifest, Broken>, code: Code, origin: Origin) -> Chosen {
        let place = (origin == Origin::Package).then(|| PathBuf::from("/site/pkg"));
        let found = Found { key: "a/b".to_owned(), origin, code, place, manifest };
        Chosen { found, identity: "id".to_owned(), aside: false }
    }

    #[test]
    fn every_plugin_is_read_as_it_was_packed() {
        let plain = Manifest { name: "n".to_owned(), version: "1".to_owned(), ..Manifest::default() };
        let full = Manifest {
            description: "größer \"x\"".to_owned(),
            requires_env: vec!["KEY".to_owned()],
            run: vec!["./x".to_owned()],
            policy: true,
            odd: vec!["odd".to_owned()],
            ..plain.clone()
        };
        let broken = Broken { why: "no\nmanifest".to_owned(), policy: true, name: None };
        let plugins = [
            chosen(Ok(plain), Code::Folder("/h/plugins/n".into()), Origin::User),
            chosen(Ok(full), Code::EntryPoint("m:f".to_owned()), Origin::Package),
            chosen(Err(broken), Code::Folder("/p".into()), Origin::Project),
        ];
        let schema = json!({ "type": "object", "properties": {} });
        let tool =
            OfferedTool { name: "t".to_owned(), schema: schema.into(), fit: 3, ..OfferedTool::default() };
        let more = OfferedTool {
            requires_env: vec!["K".to_owned()],
            max_result_size_chars: Some(1.5),
            check: true,
            overrides: true,
            ..tool.clone()
        };
        let offer = Offer {
            tools: vec![tool, more, OfferedTool::default()],
            hooks: vec!["pre_tool_call".to_owned()],
            commands: vec![OfferedCommand { name: "c".to_owned(), ..OfferedCommand::default() }],
            ..Offer::default()
        };
        let mut packer = Packer::default();
        for (plugin, offer) in plugins.iter().zip([&offer, &Offer::default(), &offer]) {
            pack(&mut packer, plugin, Some("by"), offer).unwrap();
        }
        let packed = packer.packed();
        let mut packed = Unpacker::new(&packed);

        for (plugin, offer) in plugins.iter().zip([&offer, &Offer::default(), &offer]) {
            let read = unpack(&mut packed).unwrap();
            assert_eq!(format!("{:?}", read.chosen), format!("{plugin:?}"));
            assert_eq!((read.known_by.as_deref(), &*read.offer), (Some("by"), offer));
        }
        assert_eq!(packed.rest(), "");
    }
}
