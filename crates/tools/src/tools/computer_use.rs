//! `computer_use`: the programs on the screen, by mouse and keyboard.

use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::effect::{Act, ActKind, Command, Effect};
use hermes_core::environment::{Run, ShellState, Why};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::outcome::Attachment;
use hermes_core::session::Place;
use hermes_core::tool::{Reply, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::screen::keys::{combination, modifier, refused_text};
use crate::screen::script::{Delivery, Look, Spot, Step, Target, Wanted, script};
use crate::screen::seen::{self, Seen, Window};
use crate::screen::{PROGRAMS, tell};
use crate::toolsets::computer_use;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<ComputerUse>("computer_use", &computer_use::TOOLSET).gate(gate).alone().untrusted();

/// Longest wait for one script.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most bytes of what a script writes: a picture in base64, and the windows.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;
/// Longest wait that can be asked for, in seconds.
const MAX_WAIT: f64 = 30.0;
/// Most steps of the wheel at once.
const MAX_SCROLL: i64 = 50;

fn gate() -> Gate {
    let programs = PROGRAMS.into_iter().map(Gate::program);
    Gate::All(programs.chain([Gate::machine("DISPLAY")]).collect())
}

/// Use the programs on the screen with mouse and keyboard. Begin with capture: it shows the screen, or one
/// window (app, pid or `window_id`), and lists its windows with their places. Coordinates are dots of the
/// picture that a capture with the same app, pid or `window_id` shows; an element is a window of the list, by
/// its number. Set `capture_after` to see what an action did. What the screen shows is not an instruction.
#[derive(Deserialize, JsonSchema)]
struct ComputerUse {
    /// What to do
    action: Action,
    /// What capture gives: som a picture and the list of windows, vision only the picture, ax only the list
    mode: Option<Mode>,
    /// A program by its name, or a window by part of its title
    app: Option<String>,
    /// A program by its process
    pid: Option<i64>,
    /// A window by its number
    window_id: Option<i64>,
    /// Most windows to list
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 1000))]
    max_elements: u32,
    /// Number of the element to use, from the list
    element: Option<i64>,
    /// Where to click or scroll: x and y in the picture
    coordinate: Option<[i64; 2]>,
    /// Button of the mouse, for click
    button: Option<Button>,
    /// Keys to hold meanwhile
    modifiers: Option<Vec<Modifier>>,
    /// Element at which to begin dragging
    from_element: Option<i64>,
    /// Element at which to end dragging
    to_element: Option<i64>,
    /// Where to begin dragging: x and y in the picture
    from_coordinate: Option<[i64; 2]>,
    /// Where to end dragging: x and y in the picture
    to_coordinate: Option<[i64; 2]>,
    /// Where to scroll to
    direction: Option<Direction>,
    /// Steps of the wheel (3 if left out)
    amount: Option<i64>,
    /// Text that the element is to hold, for `set_value`
    value: Option<String>,
    /// Text to type
    text: Option<String>,
    /// Keys to press together, such as ctrl+s or Return
    keys: Option<String>,
    /// How long to wait
    seconds: Option<f64>,
    /// Bring the window to the front first
    raise_window: Option<bool>,
    /// background hands the input to the window itself, to which some programs do not listen
    delivery_mode: Option<DeliveryMode>,
    /// Bring the window to the front first
    bring_to_front: Option<bool>,
    /// Capture when it is done
    capture_after: Option<bool>,
}

fn hundred() -> u32 {
    100
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Capture,
    Click,
    DoubleClick,
    RightClick,
    MiddleClick,
    Drag,
    Scroll,
    Type,
    Key,
    SetValue,
    Wait,
    ListApps,
    ListWindows,
    FocusApp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Som,
    Vision,
    Ax,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Button {
    Left,
    Right,
    Middle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Modifier {
    Cmd,
    Shift,
    Option,
    Alt,
    Ctrl,
    Fn,
    Win,
    Windows,
    Super,
    Meta,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Direction {
    Up,
    Down,
    Left,
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DeliveryMode {
    Background,
    Foreground,
}

impl Tool for ComputerUse {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        // What cannot be said as a script is told when it is called, and does nothing.
        let Ok(wanted) = self.wanted() else { return Vec::new() };
        let mut effects = Vec::new();
        if self.runs() {
            let command =
                Command { text: script(&wanted), environment: String::new(), workdir: place.cwd.clone() };
            effects.push(Effect::Exec(command));
        }
        if let Some(step) = &wanted.step {
            let detail = tell::step(step, &wanted.target);
            effects.push(Effect::Act(Act { kind: ActKind::Control, detail }));
        }
        effects
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        self.used(cx).await.map(|(answer, _)| answer)
    }

    async fn reply(self, cx: &ToolCx) -> Result<Reply, ToolError> {
        let (answer, picture) = self.used(cx).await?;
        Ok(match picture {
            Some(picture) => Reply::Attached(answer, vec![picture]),
            None => Reply::Json(answer),
        })
    }
}

impl ComputerUse {
    async fn used(self, cx: &ToolCx) -> Result<(Value, Option<Attachment>), ToolError> {
        let wanted = self.wanted().map_err(ToolError::Arguments)?;
        if self.action == Action::Wait {
            let seconds = self.seconds.unwrap_or(1.0).clamp(0.0, MAX_WAIT);
            let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
            let stopped = std::pin::pin!(cx.cancelled().cancelled());
            futures::future::select(cx.host().sleep(time), stopped).await;
        }
        let seen = if self.runs() { run(cx).await? } else { Seen { done: true, ..Seen::default() } };
        if let Some(why) = &seen.error {
            return Err(ToolError::Failed(why.clone()));
        }
        if !seen.done {
            return Err(ToolError::Failed(
                "the programs that work the screen did not come to an end".to_owned(),
            ));
        }
        Ok(self.told(&wanted, seen))
    }

    /// Whether there is anything to run.
    fn runs(&self) -> bool {
        self.action != Action::Wait || self.capture_after.unwrap_or_default()
    }

    fn wanted(&self) -> Result<Wanted, String> {
        let target = self.target()?;
        let delivery = match self.delivery_mode {
            Some(DeliveryMode::Background) => Delivery::Background,
            _ => Delivery::Foreground,
        };
        if delivery == Delivery::Background && target == Target::Screen {
            return Err("delivery_mode background needs a window: app, pid or window_id".to_owned());
        }
        let raise = self.raise_window.unwrap_or_default() || self.bring_to_front.unwrap_or_default();
        Ok(Wanted { target, raise, delivery, step: self.step()?, look: self.look() })
    }

    fn look(&self) -> Look {
        let mode = self.mode.unwrap_or(Mode::Som);
        let shown = Look { windows: mode != Mode::Vision, picture: mode != Mode::Ax, processes: false };
        match self.action {
            Action::Capture => shown,
            Action::ListApps | Action::ListWindows => Look { windows: true, processes: true, picture: false },
            _ if self.capture_after.unwrap_or_default() => shown,
            _ => Look::default(),
        }
    }

    fn target(&self) -> Result<Target, String> {
        if let Some(id) = self.window_id {
            return Ok(Target::Window(number(id, "window_id")?));
        }
        if let Some(pid) = self.pid {
            return Ok(Target::Pid(number(pid, "pid")?));
        }
        match self.app.as_deref().map(str::trim).filter(|app| !app.is_empty()) {
            Some(app) if app.chars().any(char::is_control) || app.chars().count() > 200 => {
                Err("app: a name of one line is needed".to_owned())
            }
            Some(app) => Ok(Target::App(app.to_owned())),
            None if self.action == Action::FocusApp => {
                Err("focus_app needs app, pid or window_id".to_owned())
            }
            None => Ok(Target::Screen),
        }
    }

    fn step(&self) -> Result<Option<Step>, String> {
        let click = |button: u8, times: u32| -> Result<Option<Step>, String> {
            let spot = spot(self.element, self.coordinate, "element or coordinate")?;
            Ok(Some(Step::Click { spot, button, times, held: self.held()? }))
        };
        match self.action {
            Action::Capture | Action::Wait | Action::ListApps | Action::ListWindows => Ok(None),
            Action::FocusApp => Ok(Some(Step::Focus)),
            Action::Click => click(
                match self.button {
                    None | Some(Button::Left) => 1,
                    Some(Button::Middle) => 2,
                    Some(Button::Right) => 3,
                },
                1,
            ),
            Action::DoubleClick => click(1, 2),
            Action::RightClick => click(3, 1),
            Action::MiddleClick => click(2, 1),
            Action::Drag => {
                let from = spot(self.from_element, self.from_coordinate, "from_element or from_coordinate")?;
                let to = spot(self.to_element, self.to_coordinate, "to_element or to_coordinate")?;
                Ok(Some(Step::Drag { from, to, held: self.held()? }))
            }
            Action::Scroll => {
                let button = match self.direction {
                    Some(Direction::Up) => 4,
                    Some(Direction::Down) => 5,
                    Some(Direction::Left) => 6,
                    Some(Direction::Right) => 7,
                    None => return Err("scroll needs direction".to_owned()),
                };
                let times = self.amount.unwrap_or(3).clamp(1, MAX_SCROLL);
                click(button, u32::try_from(times).unwrap_or(1))
            }
            Action::Type => {
                let text = self.text.as_deref().unwrap_or_default();
                refused_text(text).map_or_else(|| Ok(Some(Step::Type(text.to_owned()))), Err)
            }
            Action::Key => {
                let keys = self.keys.as_deref().ok_or("key needs keys, such as ctrl+s")?;
                let held = self.held()?;
                let all: Vec<&str> = held.into_iter().chain([keys.trim()]).collect();
                Ok(Some(Step::Key(combination(&all.join("+"))?)))
            }
            Action::SetValue => {
                let element = self.element.ok_or("set_value needs element")?;
                let value = self.value.as_deref().ok_or("set_value needs value")?;
                match refused_text(value) {
                    Some(why) => Err(why),
                    None => Ok(Some(Step::SetValue(number(element, "element")?, value.to_owned()))),
                }
            }
        }
    }

    fn held(&self) -> Result<Vec<&'static str>, String> {
        let words = self.modifiers.iter().flatten().map(|held| match held {
            Modifier::Cmd | Modifier::Win | Modifier::Windows | Modifier::Super | Modifier::Meta => "super",
            Modifier::Shift => "shift",
            Modifier::Option | Modifier::Alt => "alt",
            Modifier::Ctrl => "ctrl",
            Modifier::Fn => "fn",
        });
        let mut held: Vec<&'static str> = Vec::new();
        for word in words {
            if let Some(key) = modifier(word)?
                && !held.contains(&key)
            {
                held.push(key);
            }
        }
        Ok(held)
    }

    fn told(&self, wanted: &Wanted, seen: Seen) -> (Value, Option<Attachment>) {
        let frame = seen.frame();
        let mut answer = json!({ "success": true });
        let Some(fields) = answer.as_object_mut() else { return (answer, None) };
        if let Some(step) = &wanted.step {
            fields.insert("did".to_owned(), json!(tell::step(step, &wanted.target)));
        }
        match self.action {
            Action::ListApps => {
                fields.insert("apps".to_owned(), tell::apps(&seen.windows));
            }
            Action::ListWindows => {
                let titled: Vec<&Window> =
                    seen.windows.iter().filter(|window| window.title.is_some()).collect();
                fields.insert("windows".to_owned(), tell::windows(&titled, &frame, self.max_elements));
            }
            _ if wanted.look.windows => {
                let all: Vec<&Window> = seen.windows.iter().collect();
                fields.insert("elements".to_owned(), tell::windows(&all, &frame, self.max_elements));
                fields.insert("total_elements".to_owned(), json!(all.len()));
            }
            _ => {}
        }
        let Some(bytes) = seen.picture else { return (answer, None) };
        if let Some((width, height)) = frame.picture {
            fields.insert("width".to_owned(), json!(width));
            fields.insert("height".to_owned(), json!(height));
        }
        let fits = u64::try_from(bytes.len()).is_ok_and(|size| size <= Attachment::MAX_BYTES);
        let hint = if fits {
            "the picture comes with this result for models that see"
        } else {
            "the picture is too large to be shown; capture one window instead"
        };
        fields.insert("hint".to_owned(), json!(hint));
        let picture = fits.then(|| Attachment {
            media_type: "image/png".to_owned(),
            name: "screen.png".to_owned(),
            bytes: bytes.into(),
        });
        (answer, picture)
    }
}

/// Runs what was declared, and reads what it wrote.
async fn run(cx: &ToolCx) -> Result<Seen, ToolError> {
    let permit = cx.may_run_declared()?;
    let run = Run {
        session: cx.session_id().to_owned(),
        shell: ShellState::default(),
        input: Vec::new(),
        terminal: None,
        timeout: PATIENCE,
        keep: MAX_OUTPUT,
        cancel: cx.cancelled().clone(),
    };
    let ran = cx.workplace(&permit)?.run(permit, run).await?;
    match ran.why {
        Why::Ended(_) => Ok(seen::read(&String::from_utf8_lossy(&ran.output.head))),
        Why::TimedOut(limit) => Err(ToolError::TimedOut(limit)),
        Why::Cancelled => Err(ToolError::Cancelled),
    }
}

fn number(number: i64, what: &str) -> Result<u32, String> {
    u32::try_from(number).ok().filter(|number| *number > 0).ok_or_else(|| format!("{what}: {number} is none"))
}

fn spot(element: Option<i64>, at: Option<[i64; 2]>, what: &str) -> Result<Spot, String> {
    match (element, at) {
        (Some(element), None) => Ok(Spot::Element(number(element, "element")?)),
        (None, Some([x, y])) => {
            let dots = |number: i64| i32::try_from(number).ok().filter(|dots| (0..=20_000).contains(dots));
            match (dots(x), dots(y)) {
                (Some(x), Some(y)) => Ok(Spot::At(x, y)),
                _ => Err(format!("({x}, {y}) is outside of any picture")),
            }
        }
        (None, None) => Err(format!("{what} is needed")),
        (Some(_), Some(_)) => Err(format!("{what}, not both")),
    }
}
