//! `spotify_playback`: what is playing, and changing that.

use hermes_core::cx::ToolCx;
use hermes_core::effect::{ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::{Ask, Plan};
use crate::spotify::{self as lib, SERVICE, names};
use crate::toolsets::spotify;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Playback>("spotify_playback", &spotify::TOOLSET)
    .emoji("🎵")
    .gate(lib::gate)
    .variables(lib::variables)
    .untrusted();

/// Music on the person's Spotify: what is playing (`get_state` with device and position,
/// `get_currently_playing`, `recently_played`), and controlling it: play, pause, next, previous, seek,
/// `set_repeat`, `set_shuffle`, `set_volume`. Play without anything else goes on with what was
/// paused.
#[derive(Deserialize, JsonSchema)]
struct Playback {
    /// What to do
    action: Action,
    /// Where; the active device if left out
    device_id: Option<String>,
    /// Country whose catalogue counts, in two letters
    market: Option<String>,
    /// What to play as a whole, for play: spotify:album:…, spotify:playlist:…, spotify:artist:…
    context_uri: Option<String>,
    /// Tracks or episodes to play, for play
    uris: Option<Vec<String>>,
    /// Where in the whole to begin, for play: {"position": 3} counted from 0, or {"uri": "spotify:track:…"}
    #[schemars(schema_with = "object")]
    #[serde(default)]
    offset: Option<Map<String, Value>>,
    /// Where in the track, in milliseconds, for seek and play
    position_ms: Option<u32>,
    /// For `set_repeat`: track, context or off; for `set_shuffle`: true or false
    #[schemars(schema_with = "text_or_flag")]
    #[serde(default)]
    state: Option<Value>,
    /// How loud, from 0 to 100, for `set_volume`
    volume_percent: Option<u32>,
    /// Most tracks to list, up to 50, for `recently_played`
    limit: Option<u32>,
    /// Only what was played after this moment, in milliseconds since 1970
    after: Option<u64>,
    /// Only what was played before this moment, in milliseconds since 1970
    before: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    GetState,
    GetCurrentlyPlaying,
    Play,
    Pause,
    Next,
    Previous,
    Seek,
    SetRepeat,
    SetShuffle,
    SetVolume,
    RecentlyPlayed,
}

fn object(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

fn text_or_flag(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "oneOf": [{ "type": "string" }, { "type": "boolean" }] })
}

impl Tool for Playback {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        lib::run(cx, self.plan(), self.action.name()).await
    }
}

impl Action {
    const fn name(self) -> &'static str {
        match self {
            Self::GetState => "get_state",
            Self::GetCurrentlyPlaying => "get_currently_playing",
            Self::Play => "play",
            Self::Pause => "pause",
            Self::Next => "next",
            Self::Previous => "previous",
            Self::Seek => "seek",
            Self::SetRepeat => "set_repeat",
            Self::SetShuffle => "set_shuffle",
            Self::SetVolume => "set_volume",
            Self::RecentlyPlayed => "recently_played",
        }
    }
}

impl Playback {
    fn plan(&self) -> Result<Plan, ToolError> {
        let path = |last: &'static str| ["me", "player", last];
        match self.action {
            Action::GetState => Ok(Plan::look(self.in_market(Ask::get(&["me", "player"])))),
            Action::GetCurrentlyPlaying => {
                Ok(Plan::look(self.in_market(Ask::get(&path("currently-playing")))))
            }
            Action::RecentlyPlayed => Ok(Plan::look(
                Ask::get(&path("recently-played"))
                    .query("limit", lib::page(self.limit))
                    .query("after", self.after)
                    .query("before", self.before),
            )),
            Action::Play => self.play(),
            Action::Pause => Ok(self.act("pause", Ask::put(&path("pause")))),
            Action::Next => Ok(self.act("go to the next track", Ask::post(&path("next")))),
            Action::Previous => Ok(self.act("go to the track before", Ask::post(&path("previous")))),
            Action::Seek => {
                let Some(position) = self.position_ms else { return Err(self.lacks("position_ms")) };
                let ask = Ask::put(&path("seek")).query("position_ms", Some(position));
                Ok(self.act(&format!("go to {} s of the track", position / 1000), ask))
            }
            Action::SetRepeat => {
                let state = self.repeat()?;
                Ok(self
                    .act(&format!("repeat: {state}"), Ask::put(&path("repeat")).query("state", Some(state))))
            }
            Action::SetShuffle => {
                let on = self.shuffle()?;
                Ok(self.act(&format!("shuffle: {on}"), Ask::put(&path("shuffle")).query("state", Some(on))))
            }
            Action::SetVolume => {
                let Some(volume) = self.volume_percent else { return Err(self.lacks("volume_percent")) };
                let volume = volume.min(100);
                let ask = Ask::put(&path("volume")).query("volume_percent", Some(volume));
                Ok(self.act(&format!("set the volume to {volume} %"), ask))
            }
        }
    }

    fn play(&self) -> Result<Plan, ToolError> {
        let mut body = Map::new();
        let mut what = "go on playing".to_owned();
        if let Some(context) = self.context_uri.as_deref().filter(|text| !text.trim().is_empty()) {
            let uri = names::uri(context, "album")?;
            what = format!("play {uri}");
            body.insert("context_uri".to_owned(), json!(uri));
        }
        let uris = names::uris(self.uris.iter().flatten(), "track")?;
        if !uris.is_empty() {
            what = format!("play {}", uris.join(", "));
            body.insert("uris".to_owned(), json!(uris));
        }
        if body.len() > 1 {
            return Err(ToolError::Arguments("play takes either context_uri or uris".to_owned()));
        }
        if let Some(offset) = self.offset.as_ref().filter(|offset| !offset.is_empty()) {
            body.insert("offset".to_owned(), json!(offset));
        }
        if let Some(position) = self.position_ms {
            body.insert("position_ms".to_owned(), json!(position));
        }
        let ask = Ask::put(&["me", "player", "play"]);
        let ask = if body.is_empty() { ask } else { ask.json(Value::Object(body)) };
        Ok(self.act(&what, ask))
    }

    fn repeat(&self) -> Result<&'static str, ToolError> {
        match &self.state {
            Some(Value::Bool(true)) => Ok("context"),
            Some(Value::Bool(false)) => Ok("off"),
            Some(Value::String(text)) => {
                let known = ["track", "context", "off"].into_iter().find(|known| text.trim() == *known);
                known.ok_or_else(|| ToolError::Arguments("state has to be track, context or off".to_owned()))
            }
            _ => Err(self.lacks("state")),
        }
    }

    fn shuffle(&self) -> Result<bool, ToolError> {
        match &self.state {
            Some(Value::Bool(on)) => Ok(*on),
            Some(Value::String(text)) => match text.trim().to_lowercase().as_str() {
                "true" | "on" => Ok(true),
                "false" | "off" => Ok(false),
                _ => Err(ToolError::Arguments("state has to be true or false".to_owned())),
            },
            _ => Err(self.lacks("state")),
        }
    }

    fn in_market(&self, ask: Ask) -> Ask {
        ask.query("market", self.market.as_deref())
    }

    fn act(&self, what: &str, ask: Ask) -> Plan {
        let device = self.device_id.as_deref().map(str::trim).filter(|device| !device.is_empty());
        let place = device.map(|device| format!(" on the device {device}")).unwrap_or_default();
        Plan::act(ActKind::Control, format!("{what}{place}"), ask.query("device_id", device))
    }

    fn lacks(&self, argument: &str) -> ToolError {
        ToolError::Arguments(format!("{} needs {argument}", self.action.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(arguments: Value) -> Result<String, String> {
        let playback: Playback = serde_json::from_value(arguments).unwrap();
        playback.plan().map(|plan| plan.ask.told()).map_err(|why| why.to_string())
    }

    #[test]
    fn every_action_asks_in_the_words_of_the_service() {
        let cases = [
            (json!({ "action": "get_state", "market": "DE" }), "GET /me/player?market=DE"),
            (json!({ "action": "get_currently_playing" }), "GET /me/player/currently-playing"),
            (json!({ "action": "recently_played", "limit": 99 }), "GET /me/player/recently-played?limit=50"),
            (json!({ "action": "play" }), "PUT /me/player/play"),
            (
                json!({ "action": "play", "context_uri": "spotify:album:1", "offset": { "position": 2 }, "device_id": "d" }),
                r#"PUT /me/player/play?device_id=d {"context_uri":"spotify:album:1","offset":{"position":2}}"#,
            ),
            (json!({ "action": "seek", "position_ms": 61_000 }), "PUT /me/player/seek?position_ms=61000"),
            (json!({ "action": "set_repeat", "state": "track" }), "PUT /me/player/repeat?state=track"),
            (json!({ "action": "set_shuffle", "state": "off" }), "PUT /me/player/shuffle?state=false"),
            (
                json!({ "action": "set_volume", "volume_percent": 250 }),
                "PUT /me/player/volume?volume_percent=100",
            ),
        ];

        for (arguments, told) in cases {
            assert_eq!(plan(arguments).unwrap(), told);
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(plan(json!({ "action": "seek" })).unwrap_err(), "seek needs position_ms");
        assert!(
            plan(json!({ "action": "set_repeat", "state": "often" })).unwrap_err().contains("track, context")
        );
        let both = json!({ "action": "play", "context_uri": "spotify:album:1", "uris": ["spotify:track:2"] });
        assert!(plan(both).unwrap_err().contains("either"));
    }
}
