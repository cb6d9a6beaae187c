//! `hermes skills`: written-down know-how, from the command line.

use std::path::PathBuf;

use hermes::Runtime;
use hermes::core::effect::lexical;
use hermes::core::skills::{Beside, SkillError};
use hermes::store::HomeSkills;
use hermes::store::skills::{Accepted, Checked};
use serde_json::{Value, json};

use crate::command::{CommandDef, Failure, Run};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Command>("skills", "List, read, install, remove and check skills");

/// Below the options.
const AFTER_HELP: &str = "\
A skill is a folder with a SKILL.md. Those of the home are in its skills/ folder; the project's, in \
.hermes/skills, are used once they are trusted as they are; others are named in skills.external_dirs.

Exit codes: 0 done, 1 it did not work or `check` found a problem, 2 wrong usage or no such skill.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the skills that a model sees
    List {
        /// Only those of this category
        #[arg(long)]
        category: Option<String>,
    },
    /// Show what a skill says, or one of its files
    View {
        /// Name of the skill
        name: String,
        /// A file that belongs to it
        file: Option<String>,
    },
    /// Copy a skill into the home
    Install {
        /// The folder with its SKILL.md
        dir: PathBuf,
        /// The category it gets
        #[arg(long)]
        category: Option<String>,
        /// Take it even when its text looks hostile, and in place of one of the same name
        #[arg(long)]
        force: bool,
    },
    /// Have a skill of the home left alone: no model changes it, and it is not removed
    Pin {
        /// Name of the skill
        name: String,
    },
    /// Let a pinned skill be changed and removed again
    Unpin {
        /// Name of the skill
        name: String,
    },
    /// Take a skill of the home away; it is kept in skills/.archive
    Remove {
        /// Name of the skill
        name: String,
    },
    /// Look for problems: in all skills, or in those of a name
    Check {
        /// Name of the skill
        name: Option<String>,
    },
    /// Accept the project's skills as they are now
    Trust,
}

impl Run for Command {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let skills = runtime.skills().ok_or_else(|| Failure::failed("there is no home to keep skills in"))?;
        match self.action {
            Action::List { category } => list(skills, &beside(&runtime)?, category.as_deref(), shell),
            Action::View { name, file } => view(skills, &name, file.as_deref(), shell),
            Action::Install { dir, category, force } => {
                let dir = lexical(&dir.to_string_lossy(), shell.cwd(), shell.user_home().as_deref());
                let done = skills.install(&dir, category.as_deref(), force).map_err(failed)?;
                let folder = done.folder.display().to_string();
                if shell.out.wants_json() {
                    let told = json!({ "name": done.name, "folder": folder, "files": done.files, "replaced": done.replaced });
                    return shell.out.json(&told);
                }
                shell.out.text(&format!("{}: installed in {folder}", done.name))?;
                done.replaced.map_or(Ok(()), |kept| shell.out.text(&format!("the one before is in {kept}")))
            }
            Action::Remove { name } => {
                let kept = skills.remove(&name).map_err(failed)?;
                if shell.out.wants_json() {
                    return shell.out.json(&json!({ "name": name, "kept_in": kept }));
                }
                shell.out.text(&format!("{name}: removed; it is kept in {kept}"))
            }
            Action::Pin { name } => pin(skills, &name, true, shell),
            Action::Unpin { name } => pin(skills, &name, false, shell),
            Action::Check { name } => check(skills, &beside(&runtime)?, name.as_deref(), shell),
            Action::Trust => trust(skills, shell),
        }
    }
}

/// What a conversation from here is offered: skills are shown beside it or not.
fn beside(runtime: &Runtime) -> Result<Beside, Failure> {
    let toolbox = runtime.toolbox_blocking(&runtime.platform("cli")?, &runtime.definition_settings())?;
    Ok(Beside::of(&toolbox))
}

fn pin(skills: &HomeSkills, name: &str, pinned: bool, shell: &Shell) -> Result<(), Failure> {
    skills.pin(name, pinned).map_err(failed)?;
    if shell.out.wants_json() {
        return shell.out.json(&json!({ "name": name, "pinned": pinned }));
    }
    shell.out.text(&format!("{name}: {}", if pinned { "pinned" } else { "not pinned any more" }))
}

fn trust(skills: &HomeSkills, shell: &Shell) -> Result<(), Failure> {
    let all = skills.trust_project().map_err(failed)?;
    let trusted: Vec<&str> =
        all.iter().filter(|it| it.refused.is_none()).map(|it| it.name.as_str()).collect();
    let why = |it: &Accepted| Some((it.name.clone(), it.refused.clone()?));
    let refused: Vec<(String, String)> = all.iter().filter_map(why).collect();
    if shell.out.wants_json() {
        let refused = refused.iter().map(|(name, why)| json!({ "name": name, "why": why }));
        shell.out.json(&json!({ "trusted": trusted, "refused": refused.collect::<Vec<_>>() }))?;
    } else {
        if all.is_empty() {
            shell.out.line("this project has no skills")?;
        }
        if !trusted.is_empty() {
            shell.out.text(&format!("trusted as they are now: {}", trusted.join(", ")))?;
        }
        for (name, why) in &refused {
            shell.out.text(&format!("not trusted: {name}: {why}"))?;
        }
    }
    if refused.is_empty() { Ok(()) } else { Err(Failure::Told(Failure::FAILED)) }
}

/// What went wrong with a skill that was named. One of the project that nobody has accepted is told from one that
/// is not there.
fn not_found(skills: &HomeSkills, why: SkillError) -> Failure {
    match &why {
        SkillError::Unknown { name, .. } if skills.unaccepted().contains(name) => Failure::usage(format!(
            "nobody has accepted the skill `{name}` of this project as it is: read its files, then `hermes skills \
             trust` does"
        )),
        _ => failed(why),
    }
}

fn failed(why: SkillError) -> Failure {
    match why {
        SkillError::Unknown { .. }
        | SkillError::Ambiguous { .. }
        | SkillError::NoFile { .. }
        | SkillError::Path { .. } => Failure::usage(why),
        other => Failure::failed(other),
    }
}

fn list(skills: &HomeSkills, beside: &Beside, category: Option<&str>, shell: &Shell) -> Result<(), Failure> {
    let mut all = skills.list_now(Some(beside));
    all.retain(|skill| category.is_none_or(|category| skill.is_in(category)));
    if shell.out.wants_json() {
        let one = |skill: &hermes::core::skills::Skill| {
            json!({
                "name": skill.name, "description": skill.description, "category": skill.category,
                "origin": skill.origin.word(),
            })
        };
        return shell.out.json(&all.iter().map(one).collect::<Vec<Value>>());
    }
    let row = |skill: &hermes::core::skills::Skill| {
        let category = skill.category.as_deref().unwrap_or("-");
        vec![
            Cell::new(&skill.name).tone(Tone::Strong),
            Cell::new(category),
            Cell::new(skill.origin.word()),
            Cell::new(&skill.description),
        ]
    };
    let rows: Vec<Vec<Cell>> = all.iter().map(row).collect();
    for why in skills.unreadable() {
        shell.out.aside(&format!("{why}; the skills there are not in this list"));
    }
    let unaccepted = skills.unaccepted();
    if !unaccepted.is_empty() {
        let names = unaccepted.join(", ");
        shell.out.aside(&format!(
            "this project has skills that nobody has accepted as they are: {names}; `hermes skills trust` does"
        ));
    }
    if rows.is_empty() {
        return match category {
            None if !unaccepted.is_empty() => Ok(()),
            None => shell.out.nothing("There are no skills; `hermes skills install DIR` installs one."),
            Some(category) => shell.out.nothing(&format!(
                "There are no skills of the category `{category}`; `hermes skills list` shows all."
            )),
        };
    }
    shell.out.table(&["SKILL", "CATEGORY", "FROM", "WHEN IT IS OF USE"], &rows)
}

fn view(skills: &HomeSkills, name: &str, file: Option<&str>, shell: &Shell) -> Result<(), Failure> {
    if let Some(file) = file {
        let file = skills.file_now(name, file).map_err(|why| not_found(skills, why))?;
        if shell.out.wants_json() {
            let told = json!({
                "name": file.skill, "file": file.file, "content": file.text, "bytes": file.bytes,
                "warning": file.threat.map(|threat| format!("it {threat}")),
            });
            return shell.out.json(&told);
        }
        return match &file.text {
            Some(text) => shell.out.text(text.trim_end_matches('\n')),
            None => Err(Failure::failed(format!("{} is not text: {} bytes", file.file, file.bytes))),
        };
    }
    let view = skills.view_now(name, "").map_err(|why| not_found(skills, why))?;
    let files: Vec<&String> = view.linked.iter().flat_map(|(_, files)| files).collect();
    if shell.out.wants_json() {
        return shell.out.json(&json!({
            "name": view.skill.name, "description": view.skill.description, "folder": view.folder,
            "content": view.text, "files": files, "more_files": view.more,
            "missing_variables": view.needs.missing_variables,
            "missing_commands": view.needs.missing_commands,
            "missing_files": view.needs.missing_files,
            "warning": view.threat.map(|threat| format!("it {threat}")),
        }));
    }
    shell.out.text(view.text.trim_end_matches('\n'))?;
    files.iter().try_for_each(|file| shell.out.remark(file))?;
    if view.more == 0 {
        return Ok(());
    }
    shell.out.remark(&format!("and {} more in {}", view.more, view.folder.display()))
}

fn check(skills: &HomeSkills, beside: &Beside, name: Option<&str>, shell: &Shell) -> Result<(), Failure> {
    let checked = skills.check(name, Some(beside));
    if let (Some(name), true) = (name, checked.is_empty()) {
        return Err(failed(skills.unknown(name)));
    }
    let bad = checked.iter().any(|skill| !skill.problems.is_empty());
    if shell.out.wants_json() {
        let one = |skill: &Checked| {
            json!({
                "name": skill.name, "folder": skill.folder, "origin": skill.origin.word(),
                "hidden": skill.hidden, "problems": skill.problems,
            })
        };
        shell.out.json(&checked.iter().map(one).collect::<Vec<Value>>())?;
    } else if checked.is_empty() {
        shell.out.nothing("There are no skills; `hermes skills install DIR` installs one.")?;
    } else {
        let row = |skill: &Checked| {
            let (word, tone) =
                if skill.problems.is_empty() { ("ok", Tone::Good) } else { ("problem", Tone::Bad) };
            let hidden = skill.hidden.iter().map(|why| format!("not offered: {why}"));
            let all: Vec<String> = skill.problems.iter().cloned().chain(hidden).collect();
            vec![
                Cell::new(&skill.name).tone(Tone::Strong),
                Cell::new(word).tone(tone),
                Cell::new(all.join("; ")),
            ]
        };
        let rows: Vec<Vec<Cell>> = checked.iter().map(row).collect();
        shell.out.table(&["SKILL", "STATE", "WHY"], &rows)?;
    }
    if bad { Err(Failure::Told(Failure::FAILED)) } else { Ok(()) }
}
