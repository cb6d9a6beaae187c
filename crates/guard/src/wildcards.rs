//! Names that matter, written with wildcards in them.

use std::borrow::Cow;

use crate::places;
use crate::walk::glob_matches;

/// Names that mean something, which a wildcard may stand for.
const WEIGHTY: [&str; 36] = [
    ".hermes",
    "config.yaml",
    ".env",
    "auth.json",
    ".ssh",
    "authorized_keys",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    ".aws",
    "credentials",
    ".kube",
    ".docker",
    ".gnupg",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".my.cnf",
    ".config",
    "gcloud",
    ".git",
    "hooks",
    "shadow",
    "gshadow",
    "sudoers",
    "sudoers.d",
    "passwd",
    "crontab",
    "cron.d",
    "profile.d",
    "systemd",
    "environ",
    ".vault-token",
    ".password-store",
];

/// How many letters of a name a wildcard may hide.
const HIDDEN: usize = 3;

/// How many letters of a pattern are told: a class tells one if it has no other.
fn told(pattern: &str) -> usize {
    let mut count = 0;
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let class = rest.strip_prefix('[').and_then(|inner| inner.split_once(']'));
        count += match (letter, class) {
            ('*' | '?', _) => 0,
            (_, Some((inner, after))) => {
                rest = after;
                count += usize::from(inner.chars().count() == 1);
                continue;
            }
            _ => 1,
        };
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
    count
}

/// The path with wildcards for all but all of a weighty name written out: `.herm*` is `.hermes`.
pub(crate) fn spelled(path: &str) -> Cow<'_, str> {
    let weighty = |part: &str| {
        let told = told(part);
        let names = WEIGHTY.iter().copied().chain(places::PROFILES);
        names.into_iter().find(|name| {
            // A star that hides nothing stands for everything that begins so.
            let hides = !(part.contains('*') && name.len() == told);
            let dotted = !name.starts_with('.') || part.starts_with('.');
            told >= 3 && hides && dotted && name.len() <= told + HIDDEN && glob_matches(part, name)
        })
    };
    let globbed = |part: &str| part.contains(['*', '?', '[']) && !part.starts_with('*');
    if !path.split('/').any(|part| globbed(part) && weighty(part).is_some()) {
        return path.into();
    }
    let written = |part| if globbed(part) { weighty(part).unwrap_or(part) } else { part };
    path.split('/').map(written).collect::<Vec<_>>().join("/").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_all_but_written_out_is_that_name() {
        assert_eq!(spelled("/home/me/.herm*/config.y?ml"), "/home/me/.hermes/config.yaml");
        assert_eq!(spelled("/home/me/.ss[h]/id_r*"), "/home/me/.ssh/id_rsa");
    }

    #[test]
    fn what_could_be_many_names_stays_as_it_is() {
        for path in ["/p/*.yaml", "/p/config.*", "/p/.git*", "/p/.[!.]*", "/[a-z]*", "/p/src/?ain.rs"] {
            assert_eq!(spelled(path), path);
        }
    }
}
