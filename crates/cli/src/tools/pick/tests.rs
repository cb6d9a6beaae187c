//! The picker without a screen: keys in, switches out, judged by the code that decides about tools.

use std::sync::Arc;

use hermes::core::toolset::{
    Catalog, CatalogParts, PlatformLists, PlatformSettings, Toolset, platform_selection,
};
use proptest::prelude::*;

use super::board::{Mark, Row};
use super::*;
use crate::tools::switches::applied;

const FILE: Toolset = Toolset::new("file", "Files.").tools(&["read_file", "write_file", "patch"]);
const WEB: Toolset = Toolset::new("web", "The web.").tools(&["web_search", "web_extract"]);
const SPOTIFY: Toolset = Toolset::new("spotify", "Music.").tools(&["spotify_search"]).default_off();
const CLI: Toolset = Toolset::new("hermes-cli", "")
    .tools(&["read_file", "write_file", "patch", "web_search", "web_extract", "spotify_search"])
    .preset_of(&["cli"]);

fn catalog() -> Catalog {
    let tools = [&FILE, &WEB, &SPOTIFY]
        .iter()
        .flat_map(|set| set.tools.iter().map(|tool| (Arc::from(*tool), Arc::from(set.name()))));
    Catalog::new(CatalogParts {
        toolsets: &[&FILE, &WEB, &SPOTIFY, &CLI],
        tools: tools.collect(),
        ..CatalogParts::default()
    })
}

fn groups() -> Vec<Group> {
    let item = |name: &&str| Item {
        name: (*name).to_owned(),
        about: format!("what {name} does"),
        tokens: 100,
        missing: name.starts_with("spotify").then(|| "needs a login at Spotify".to_owned()),
        on: false,
    };
    [&FILE, &SPOTIFY, &WEB]
        .iter()
        .map(|set| Group {
            tools: set.tools.iter().map(item).collect(),
            ..Group::new(set.name(), set.description)
        })
        .collect()
}

fn nothing_said() -> PlatformLists {
    PlatformLists::default()
}

fn judged(
    before: &PlatformLists,
    switches: &[Switch],
) -> Result<BTreeSet<String>, hermes::core::toolset::SelectionError> {
    let catalog = catalog();
    let lists = applied(before, &catalog, "cli", switches)?;
    let disabled: Vec<String> =
        lists.disabled_toolsets.iter().chain(&lists.disabled_tools).cloned().collect();
    let settings = PlatformSettings {
        platform: "cli",
        toolsets: lists.toolsets.as_deref(),
        disabled: &disabled,
        ..PlatformSettings::default()
    };
    let plan = platform_selection(&catalog, &settings)?.plan(&catalog)?;
    Ok(plan.tools().iter().map(ToString::to_string).collect())
}

/// Presses keys on a board over these lists, and looks at it.
fn pressed<R>(before: &PlatformLists, keys: &str, look: impl FnOnce(&mut Board<'_>) -> R) -> R {
    let judge = |switches: &[Switch]| judged(before, switches);
    let mut board = Board::new("cli", groups(), &judge).unwrap();
    for key in keys.chars() {
        assert_eq!(board.key(&Key::Char(key)), Step::On);
    }
    look(&mut board)
}

fn on(board: &Board<'_>) -> Vec<String> {
    let tools = board.groups.iter().flat_map(|group| &group.tools);
    tools.filter(|tool| tool.on).map(|tool| tool.name.clone()).collect()
}

#[test]
fn a_toolset_is_switched_off_as_a_whole_and_on_again() {
    let (off, switches) = pressed(&nothing_said(), " ", |board| (on(board), board.switches().to_vec()));

    assert_eq!(off, ["web_search", "web_extract"]);
    assert_eq!(switches, [Switch { name: "file".to_owned(), on: false }]);
    pressed(&nothing_said(), "  ", |board| {
        assert_eq!((on(board).len(), board.switches()), (5, &[][..]));
    });
}

#[test]
fn one_tool_of_a_toolset_that_is_off_can_be_switched_on_alone() {
    let before =
        PlatformLists { toolsets: Some(vec!["hermes-cli".to_owned(), "!file".to_owned()]), ..nothing_said() };

    // Into the toolset, to its second tool, and switch.
    pressed(&before, "ljj ", |board| {
        assert_eq!(on(board), ["write_file", "web_search", "web_extract"]);
        assert_eq!(board.groups[0].mark(), Mark::Partly);
    });
}

#[test]
fn a_toolset_that_is_partly_on_goes_on_as_a_whole() {
    let before = PlatformLists {
        toolsets: Some(vec!["hermes-cli".to_owned(), "!patch".to_owned()]),
        ..nothing_said()
    };

    pressed(&before, " ", |board| {
        assert_eq!(on(board), ["read_file", "write_file", "patch", "web_search", "web_extract"]);
    });
}

#[test]
fn what_is_off_by_default_and_what_is_disabled_everywhere_can_be_switched_on() {
    pressed(&nothing_said(), "j ", |board| assert!(on(board).contains(&"spotify_search".to_owned())));
    let before = PlatformLists { disabled_toolsets: vec!["web".to_owned()], ..nothing_said() };
    pressed(&before, "jj ", |board| assert!(on(board).contains(&"web_extract".to_owned())));
}

#[test]
fn what_is_looked_for_is_shown_with_its_toolset() {
    pressed(&nothing_said(), "/extr", |board| {
        assert_eq!(board.rows(), [Row { group: 2, tool: None }, Row { group: 2, tool: Some(1) }]);
        // While words are typed a key is a letter; afterwards it switches again.
        assert_eq!(board.key(&Key::Enter), Step::On);
        board.key(&Key::Down);
        board.key(&Key::Char(' '));
        assert_eq!(board.switches(), [Switch { name: "web_extract".to_owned(), on: false }]);
        board.key(&Key::Escape);
        assert_eq!((board.rows().len(), board.key(&Key::Escape)), (3, Step::Leave));
    });
}

#[test]
fn the_screen_shows_costs_and_what_is_missing_and_keeps_the_hand_in_sight() {
    pressed(&nothing_said(), "", |board| {
        let text = |board: &Board<'_>, rows: usize| {
            let area = view::area(board, 90, rows);
            assert!(area.rows.len() < rows, "{} rows of {rows}", area.rows.len());
            area.rows.iter().map(crate::chat::text::Line::text).collect::<Vec<String>>().join("\n")
        };
        let first = text(board, 30);
        assert!(
            first.starts_with("hermes tools · cli: 5 tools, about 500 tokens in every request\n"),
            "{first}"
        );
        assert!(first.contains("❯ [x] ▸ file        300  Files."), "{first}");
        assert!(first.contains("  [ ] ▸ spotify     100  needs a login at Spotify"), "{first}");
        board.key(&Key::Right);
        board.key(&Key::End);
        let small = text(board, 12);
        assert!(small.contains("❯ [x] ▸ web"), "{small}");
    });
}

#[test]
fn a_program_gets_the_same_as_a_person() {
    pressed(&nothing_said(), "j", |board| {
        let told = view::json(board);
        assert_eq!((&told["tools"], &told["tokens"]), (&5.into(), &500.into()));
        assert_eq!(told["toolsets"][1]["state"], "off");
        assert_eq!(told["toolsets"][1]["missing"][0], "needs a login at Spotify");
        let (head, rows) = view::table(board);
        assert!(head.contains("5 tools") && rows.len() == 9, "{head}");
    });
}

proptest! {
    #[test]
    fn whatever_is_pressed_the_switches_lead_to_what_is_shown(keys in "[jkhl /w\u{20}]{0,40}") {
        let before = nothing_said();
        let judge = |switches: &[Switch]| judged(&before, switches);
        let mut board = Board::new("cli", groups(), &judge).unwrap();
        for key in keys.chars() {
            board.key(&Key::Char(key));
            let mut shown = on(&board);
            shown.sort();
            let meant: Vec<String> = judged(&before, board.switches()).unwrap().into_iter().collect();
            prop_assert_eq!(shown, meant);
            prop_assert!(board.at == 0 || board.at < board.rows().len());
        }
    }
}
