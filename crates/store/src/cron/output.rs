//! Answers of jobs as files: `cron/output/<job>/<time>.md`.

use std::fmt::Write as _;
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::CronHome;
use crate::disk::{self, Kind};
use crate::error::StoreError;

/// Most bytes of an answer that are read again.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Before the answer.
const ANSWER: &str = "\n## Response\n\n";

/// What is written down about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report<'a> {
    /// The job's id.
    pub job: &'a str,
    /// What people call it.
    pub name: &'a str,
    /// When it runs, in words.
    pub schedule: &'a str,
    /// When this run was due.
    pub due: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// The zone that times are shown in.
    pub zone: &'a TimeZone,
    /// Who answered.
    pub model: Option<&'a str>,
    /// The conversation.
    pub session: Option<&'a str>,
    /// What the agent was asked.
    pub prompt: &'a str,
    /// What it answered.
    pub answer: &'a str,
    /// What went wrong.
    pub error: Option<&'a str>,
}

impl Report<'_> {
    fn text(&self) -> String {
        let when =
            |at: Timestamp| at.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string();
        let failed = if self.error.is_some() { " (FAILED)" } else { "" };
        let mut text = format!(
            "# Cron Job: {}{failed}\n\n**Job ID:** {}\n**Run Time:** {}\n**Due:** {}\n**Schedule:** {}\n",
            self.name.replace('\n', " "),
            self.job,
            when(self.ended),
            when(self.due),
            self.schedule
        );
        for (name, value) in [("Model", self.model), ("Session", self.session)] {
            if let Some(value) = value {
                let _ = writeln!(text, "**{name}:** {value}");
            }
        }
        let _ = writeln!(text, "\n## Prompt\n\n{}", self.prompt.trim_end());
        if let Some(error) = self.error {
            let _ = writeln!(text, "\n## Error\n\n{}", error.trim_end());
        }
        let _ = writeln!(text, "{ANSWER}{}", self.answer.trim_end());
        text
    }
}

impl CronHome {
    /// Writes down what came of a run, and lets go of the oldest when there are more than `keep`.
    pub fn write_output(&self, report: &Report<'_>, keep: usize) -> Result<PathBuf, StoreError> {
        let folder = self.outputs(report.job);
        disk::make_private_folder(&self.folder.join("output"))?;
        disk::own_folder(&folder)?;
        let stamp = report.ended.to_zoned(report.zone.clone()).strftime("%Y-%m-%d_%H-%M-%S").to_string();
        let names = (1..1000).map(|n| if n == 1 { format!("{stamp}.md") } else { format!("{stamp}_{n}.md") });
        let mut written = None;
        for path in names.map(|name| folder.join(name)) {
            if disk::create_new(&path, report.text())? {
                written = Some(path);
                break;
            }
        }
        let path = written.ok_or_else(|| StoreError::Locked { path: folder.clone() })?;
        let mut all = self.output_files(report.job)?;
        let extra = all.len().saturating_sub(keep.max(1));
        for old in all.drain(..extra) {
            disk::remove(&old)?;
        }
        Ok(path)
    }

    /// The last answer of a job, by its id.
    pub fn last_answer(&self, job: &str) -> Result<Option<String>, StoreError> {
        let files = self.output_files(job)?;
        let Some(text) = files.last().map(|path| disk::read(path, MAX_BYTES)).transpose()?.flatten() else {
            return Ok(None);
        };
        Ok(Some(text.split_once(ANSWER).map_or(text.as_str(), |(_, answer)| answer).trim().to_owned()))
    }

    /// The files of a job, oldest first. Their names tell their time.
    fn output_files(&self, job: &str) -> Result<Vec<PathBuf>, StoreError> {
        let entries = disk::list(&self.outputs(job))?.into_iter();
        let ours = entries.filter(|entry| {
            entry.kind == Kind::File && entry.path.extension().is_some_and(|end| end == "md")
        });
        let mut files: Vec<_> = ours.map(|entry| (entry.modified, entry.path)).collect();
        files.sort();
        Ok(files.into_iter().map(|(_, path)| path).collect())
    }

    fn outputs(&self, job: &str) -> PathBuf {
        // An id is only ever letters and digits; one that somebody wrote by hand leads nowhere else.
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
        self.folder.join("output").join(job.chars().map(plain).collect::<String>())
    }
}
