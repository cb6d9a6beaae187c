//! The corpus is well formed: every line parses, truths are consistent, no command appears twice.

#![expect(clippy::disallowed_methods, reason = "a test reads the corpus")]

#[cfg(test)]
mod corpus {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    /// Every line of the corpus as (group, technique, object).
    fn lines() -> Vec<(String, String, Value)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let mut all = Vec::new();
        for group in ["danger", "harmless"] {
            let mut files: Vec<_> =
                fs::read_dir(root.join(group)).unwrap().map(|entry| entry.unwrap().path()).collect();
            files.sort();
            for file in files {
                let technique = file.file_stem().unwrap().to_string_lossy().into_owned();
                for line in fs::read_to_string(&file).unwrap().lines() {
                    let value =
                        serde_json::from_str(line).unwrap_or_else(|e| panic!("{technique}: {e}: {line}"));
                    all.push((group.to_owned(), technique.clone(), value));
                }
            }
        }
        all
    }

    #[test]
    fn every_line_says_what_it_must() {
        for (group, technique, value) in lines() {
            let verdict = value["verdict"].as_str().unwrap();
            let never = value["never"].as_bool().unwrap();
            assert!(!value["cmd"].as_str().unwrap().is_empty(), "{technique}: empty command");
            assert_eq!(never, verdict == "deny", "{technique}: {value}");
            assert_eq!(group == "harmless", verdict == "allow", "{technique}: {value}");
            assert_eq!(group == "harmless", value["kind"] == "none", "{technique}: {value}");
        }
    }

    #[test]
    fn no_command_is_listed_twice() {
        let mut seen = BTreeMap::new();
        for (group, technique, value) in lines() {
            let place = (value["cmd"].to_string(), value["cwd"].to_string());
            if let Some(other) = seen.insert(place, format!("{group}/{technique}")) {
                panic!("{} is in {other} and in {group}/{technique}", value["cmd"]);
            }
        }
    }

    #[test]
    fn both_kinds_are_large_enough_to_mean_something() {
        let all = lines();
        let danger = all.iter().filter(|(group, ..)| group == "danger").count();
        assert!(danger >= 900, "{danger} dangerous commands");
        assert!(all.len() - danger >= 700, "{} harmless commands", all.len() - danger);
    }
}
