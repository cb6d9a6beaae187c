//! What the settings of far places have in common: checks, and what follows from them. Pure.

use std::collections::BTreeMap;

use crate::backends::Surroundings;

/// The image that is used when none is named.
pub(crate) const IMAGE: &str = "nikolaik/python-nodejs:python3.11-nodejs20";

/// The variables a place gets: those forwarded by name, then those with a value.
pub(crate) fn variables(
    forward: &[String],
    own: &BTreeMap<String, String>,
    around: &Surroundings,
) -> BTreeMap<String, String> {
    let forwarded = forward.iter().filter_map(|name| Some((name.clone(), around.given.get(name)?.clone())));
    forwarded.chain(own.clone()).collect()
}

/// Where sessions begin: what looks like a folder of this machine is none there.
pub(crate) fn cwd(set: Option<&String>, otherwise: &str) -> String {
    let usable = |cwd: &&String| {
        let host_like = ["/home/", "/Users/"].iter().any(|prefix| cwd.starts_with(prefix));
        (cwd.starts_with('/') || *cwd == "~" || cwd.starts_with("~/")) && !host_like
    };
    set.filter(usable).cloned().unwrap_or_else(|| otherwise.to_owned())
}

/// Checks names of variables: those forwarded, and those with a value.
pub(crate) fn check_variables(forward: &[String], own: &BTreeMap<String, String>) -> Result<(), String> {
    let sound = |name: &str| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let forwarded = forward.iter().map(|name| ("forward_env", name));
    let mut names = forwarded.chain(own.keys().map(|name| ("env", name)));
    match names.find(|(_, name)| !sound(name)) {
        Some((field, name)) => Err(format!("{field}: `{name}` is not the name of a variable")),
        None => Ok(()),
    }
}

/// Checks a number of processors.
pub(crate) fn check_cpu(cpu: f64) -> Result<(), String> {
    if cpu.is_finite() && (0.0..=1024.0).contains(&cpu) {
        return Ok(());
    }
    Err("cpu: it must be a number from 0 to 1024".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_this_machine_is_no_directory_in_there() {
        let begins = |set: &str| cwd(Some(&set.to_owned()), "/workspace");

        assert_eq!([begins("/home/ann/x"), begins("."), begins("")], ["/workspace"; 3]);
        assert_eq!([begins("/srv"), begins("~/x")], ["/srv", "~/x"]);
        assert_eq!(cwd(None, "~"), "~");
    }

    #[test]
    fn what_is_no_name_of_a_variable_is_named() {
        let own = |name: &str| BTreeMap::from([(name.to_owned(), String::new())]);

        assert_eq!(check_variables(&["A_1".to_owned()], &own("_B")), Ok(()));
        assert!(
            check_variables(&["A B".to_owned()], &own("B")).unwrap_err().starts_with("forward_env: `A B`")
        );
        assert!(check_variables(&[], &own("1B")).unwrap_err().starts_with("env: `1B`"));
    }

    #[test]
    fn processors_are_a_number_that_makes_sense() {
        assert_eq!(check_cpu(0.5), Ok(()));
        assert!([-1.0, f64::NAN, f64::INFINITY, 1e9].into_iter().all(|cpu| check_cpu(cpu).is_err()));
    }

    #[test]
    fn own_values_win_over_forwarded_ones() {
        let given = BTreeMap::from([("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned())]);
        let around = Surroundings { given, ..Surroundings::default() };
        let own = BTreeMap::from([("B".to_owned(), "3".to_owned())]);

        let got = variables(&["A".to_owned(), "B".to_owned(), "C".to_owned()], &own, &around);

        assert_eq!(got, BTreeMap::from([("A".to_owned(), "1".to_owned()), ("B".to_owned(), "3".to_owned())]));
    }
}
