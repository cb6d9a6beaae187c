//! The words an instance is started with, and the name by which it is found again.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use crate::apptainer::settings::ApptainerSettings;

/// What the words depend on beside the settings.
pub(super) struct Starting<'a> {
    pub(super) name: &'a str,
    /// The image, as it is given to the program.
    pub(super) image: &'a str,
    /// Folder of this machine it stands on.
    pub(super) folder: &'a Path,
    /// The home of the person, which is the home in there too.
    pub(super) home: &'a str,
    /// The directory the person works in.
    pub(super) cwd: Option<&'a Path>,
    /// Folder of this machine with what it is given.
    pub(super) mirror: Option<&'a Path>,
    /// Whether changes to the image are known to be kept in a folder.
    pub(super) overlay: bool,
    /// Whether limits are known to be accepted.
    pub(super) limits: bool,
}

/// The words after the program's name.
pub(super) fn start(settings: &ApptainerSettings, starting: &Starting<'_>) -> Vec<String> {
    let mut words: Vec<String> =
        ["instance", "start", "--containall", "--no-home"].map(str::to_owned).to_vec();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    let below = |name: &str| starting.folder.join(name).display().to_string();
    if settings.persistent && starting.overlay {
        add(&["--overlay", &below("overlay")]);
    } else {
        add(&["--writable-tmpfs"]);
    }
    // Its `/tmp` would otherwise be as small as the program's own settings make it.
    add(&["--workdir", &below("work")]);
    if !settings.network {
        add(&["--net", "--network", "none"]);
    }
    if starting.limits {
        if settings.cpu > 0.0 {
            add(&["--cpus", &settings.cpu.to_string()]);
        }
        if settings.memory > 0 {
            add(&["--memory", &format!("{}M", settings.memory)]);
        }
    }
    let taken = |target: &str| settings.volumes.iter().any(|volume| volume.split(':').nth(1) == Some(target));
    if !taken("/workspace") {
        let from = starting.cwd.filter(|_| settings.mount_cwd).map(|cwd| cwd.display().to_string());
        add(&["--bind", &format!("{}:/workspace", from.unwrap_or_else(|| below("workspace")))]);
    }
    if !taken(starting.home) {
        add(&["--bind", &format!("{}:{}", below("home"), starting.home)]);
    }
    for volume in &settings.volumes {
        add(&["--bind", volume]);
    }
    if let Some(mirror) = starting.mirror {
        add(&["--bind", &format!("{}:{}/.hermes:ro", mirror.display(), starting.home)]);
    }
    for word in &settings.extra_args {
        add(&[word]);
    }
    add(&[starting.image, starting.name]);
    words
}

/// The name of an instance: whose it is, which place, what it is made of, and, where it ends with whoever
/// made it, who that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// What all of a home begin with.
    pub(super) ours: String,
    /// What all of a place begin with.
    pub(super) place: String,
    /// What all of a place begin with that are made as they would be now.
    pub(super) recipe: String,
    pub(super) whole: String,
}

impl Name {
    pub(super) fn new(owner: &str, place: &str, recipe: &str, maker: Option<&str>) -> Self {
        let ours = format!("hermes_{}_", short(owner));
        let place = format!("{ours}{}_", short(place));
        let recipe = format!("{place}{}_", short(recipe));
        let whole = format!("{recipe}{}", maker.unwrap_or("stays"));
        Self { ours, place, recipe, whole }
    }

    /// What an instance of that name is known by to all programs of a home: the name without who made it.
    pub(super) fn thing(name: &str) -> &str {
        name.rsplit_once('_').map_or(name, |(thing, _)| thing)
    }

    /// Who made an instance of that name; nothing when it stays.
    pub(super) fn maker(name: &str) -> Option<&str> {
        name.rsplit('_').next().filter(|maker| *maker != "stays")
    }
}

/// A reference as the name of a file.
pub(super) fn file_name(reference: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' };
    reference.chars().map(plain).collect()
}

fn short(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let word = format!("{:016x}", hasher.finish());
    word.get(..10).unwrap_or(&word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(settings: &str, change: impl FnOnce(&mut Starting<'_>)) -> String {
        let settings: ApptainerSettings = serde_json::from_str(settings).unwrap();
        let mut starting = Starting {
            name: "n",
            image: "/i.sif",
            folder: Path::new("/f"),
            home: "/home/ann",
            cwd: Some(Path::new("/w")),
            mirror: Some(Path::new("/k/mirror")),
            overlay: true,
            limits: true,
        };
        change(&mut starting);
        start(&settings, &starting).join(" ")
    }

    #[test]
    fn an_instance_sees_nothing_of_this_machine_that_it_is_not_given() {
        let words = words(r#"{"network": false}"#, |_| ());

        for part in [
            "instance start --containall --no-home --overlay /f/overlay --workdir /f/work",
            "--net --network none --cpus 1 --memory 5120M",
            "--bind /f/workspace:/workspace --bind /f/home:/home/ann",
            "--bind /k/mirror:/home/ann/.hermes:ro",
        ] {
            assert!(words.contains(part), "{part} in {words}");
        }
        assert!(words.ends_with(" /i.sif n"), "{words}");
    }

    #[test]
    fn what_is_not_kept_or_cannot_be_limited_is_left_out() {
        let words = words(r#"{"persistent": false, "mount_cwd": true}"#, |starting| starting.limits = false);

        assert!(words.contains("--writable-tmpfs") && !words.contains("--overlay"), "{words}");
        assert!(words.contains("--bind /w:/workspace") && !words.contains("--memory"), "{words}");
    }

    #[test]
    fn a_name_tells_whose_it_is_and_who_made_it() {
        let name = Name::new("o", "lab", "r", Some("12.34"));

        assert!(name.whole.starts_with(&name.recipe) && name.recipe.starts_with(&name.place));
        assert!(name.place.starts_with(&name.ours));
        assert_eq!(Name::maker(&name.whole), Some("12.34"));
        assert_eq!(format!("{}_", Name::thing(&name.whole)), name.recipe);
        assert_eq!(Name::maker(&Name::new("o", "lab", "r", None).whole), None);
        assert_ne!(Name::new("o", "lab", "other", None).recipe, name.recipe);
    }

    #[test]
    fn a_reference_is_one_name_of_a_file() {
        assert_eq!(file_name("docker://a/b:1.2"), "docker___a_b_1.2");
    }
}
