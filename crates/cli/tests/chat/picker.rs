//! Setting up in a real terminal: toolsets switched with the keyboard, keys of tools by questions.

use crate::home::HERMES;
use crate::screen::Terminal;
use crate::stage::Stage;

/// Settings with comments that must stay.
const COMMENTED: &str = "\
# Ann's settings
model: m   # the cheap one
platform_toolsets:
  cli:
    - hermes-cli   # everything
    # no music yet
";

#[test]
fn toolsets_are_switched_with_the_keyboard_and_saved() {
    let stage = Stage::saying([]);
    std::fs::write(stage.config(), COMMENTED).unwrap();
    let Some(terminal) = Terminal::open(&stage) else { return };

    terminal.type_line(&format!("{HERMES} tools"));
    let shown = terminal.until_shown("enter save");
    assert!(shown.contains("tokens in every request"), "{shown}");
    assert!(shown.contains("[x] ▸ browser"), "{shown}");
    // What is missing is told where none of a toolset is there.
    assert!(shown.contains("needs DISCORD_BOT_TOKEN") || shown.contains("needs HASS_TOKEN"), "{shown}");

    // A toolset as a whole, then one tool of another.
    terminal.type_line("/todo");
    terminal.until(|screen| screen.contains("find: todo") && !screen.contains("find: todo▏"));
    terminal.press("Space");
    terminal.until_shown("[ ] ▸ todo");
    terminal.press("Escape");
    terminal.until(|screen| !screen.contains("find:"));
    terminal.type_line("/read_file");
    terminal.until_shown("[x] read_file");
    terminal.press("Down");
    terminal.press("Space");
    let changed = terminal.until_shown("[ ] read_file");
    assert!(changed.contains("[-] ▸ file") && changed.contains("changed ·"), "{changed}");
    assert_eq!(stage.config_text(), COMMENTED);
    terminal.press("Enter");
    let saved = terminal.until_shown("saved in");
    assert!(saved.contains("off for cli: read_file, todo"), "{saved}");

    let after = stage.config_text();
    let kept: Vec<&str> = after.lines().filter(|line| !line.contains("'!")).collect();
    assert_eq!(kept, COMMENTED.lines().collect::<Vec<_>>(), "{after}");
    assert!(after.contains("'!todo'") && after.contains("'!read_file'"), "{after}");

    // Leaving writes nothing, and the terminal is as it was.
    terminal.type_line("clear");
    terminal.type_line(&format!("{HERMES} tools"));
    terminal.until_shown("enter save");
    terminal.press("Space");
    terminal.until_shown("changed ·");
    terminal.press("q");
    terminal.until_shown("nothing was changed");
    assert_eq!(stage.config_text(), after);
    terminal.type_line("stty -a; echo set=$?");
    let set = terminal.until_shown("set=0");
    assert!(set.contains(" icanon") && set.contains(" echo "), "{set}");
}

#[test]
fn setup_asks_for_the_keys_of_the_tools_that_are_wanted() {
    let stage = Stage::saying([]);
    let Some(terminal) = Terminal::open(&stage) else { return };

    terminal.type_line(&format!("clear; {HERMES} setup"));
    terminal.until_shown("number [");
    terminal.press("Enter");
    terminal.until_shown("empty to leave it as it is (not shown):");
    terminal.press("Enter");
    terminal.until_shown("Model [");
    terminal.press("Enter");
    terminal.until_shown("What about risky commands?");
    terminal.press("Enter");
    let shown = terminal.until_shown("numbers with commas between");
    let row = shown.lines().find(|line| line.contains("homeassistant: HASS_TOKEN")).expect(&shown);
    terminal.type_line(row.split_whitespace().next().unwrap());
    terminal.until_shown("HASS_TOKEN, empty to leave it as it is (not shown):");
    terminal.type_line("abc");
    terminal.until_shown("HASS_URL, empty to leave it as it is:");
    terminal.type_line("http://ha.test:8123");
    let done = terminal.until_shown("Done.");

    assert!(!done.contains("abc"), "{done}");
    let kept = std::fs::read_to_string(stage.state().join(".env")).unwrap();
    assert!(kept.contains("HASS_TOKEN=abc") && kept.contains("HASS_URL=http://ha.test:8123"), "{kept}");
}
