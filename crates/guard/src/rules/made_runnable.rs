//! `made_runnable`: chmod +x followed by the file itself.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "makes a file executable and runs it at once",
    keys: &["chmod-then-run", "chmod +x then execute"],
    matches,
    catches: &["chmod +x payload; ./payload", "chmod 755 x && ./x", "chmod u+x /tmp/x && /tmp/x"],
    spares: &[
        "chmod +x gradlew && ./gradlew build",
        "chmod +x run.sh",
        "./run.sh",
        "cat > a.sh <<'E'\necho hi\nE\nchmod +x a.sh && ./a.sh",
    ],
    ..Rule::new("made_runnable")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::MadeRunnable
}
