//! The work of a judgement grows with the text and no faster, whatever the text holds; and what
//! bounds it never hides anything.

#[path = "../benches/shapes/mod.rs"]
mod shapes;

use hermes_guard::{Context, UserRule, UserRules, Verdict, judge, steps};

fn context() -> Context {
    Context::new("/home/user/project", "/home/user")
}

/// `count` pieces, one after the other.
fn many(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().concat()
}

#[test]
fn no_shape_takes_more_steps_than_its_length_pays_for() {
    let context = context();
    let mut wrong = Vec::new();
    for (name, unit) in shapes::UNITS {
        for length in [20_000, 80_000] {
            let taken = steps(&unit.repeat(length / unit.len()), &context);
            if taken > 600_000 + 12 * length {
                wrong.push(format!("{name} of {length}: {taken} steps"));
            }
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is repeated in programs of other languages, and what stands before it.
const PROGRAMS: &[(&str, &str)] = &[
    ("python3 -c 'x=", "("),
    ("python3 -c 'x=", "["),
    ("python3 -c '", "a=("),
    ("node -e 'f=", "path.join("),
    ("python3 -c 'f=", "expanduser("),
    ("python3 -c 'x=", "b64decode("),
    ("python3 -c 'x=", "\"\".join(["),
    ("python3 -c 'open(", "\"a\"+"),
    ("python3 -c 'a=\"aaaa\";", "a=a+a;"),
    ("python3 -c '", "os.remove(\"a\"+x);"),
    ("python3 -c '", "(Path.home()/\"a\").unlink();"),
    ("python3 -c '", "a,b=\"a\",\"b\";"),
    ("python3 -c '", "a,"),
    ("perl -e 'open F, \">\", ", "\"a\"."),
    ("perl -e '", "chmod 0777,"),
    ("perl -e '", "find(sub{unlink},"),
    ("perl -e '", "find(sub { chown 0, 0, $_ }, \"/a\");"),
    ("ruby -e '", "`#{a}`;"),
    ("ruby -e '", "(Pathname.new(Dir.home)+"),
    ("node -e 'const ", "p=require(\"path\"),"),
];

#[test]
fn no_program_of_another_language_takes_more_steps_than_its_length_pays_for() {
    let context = context();
    let mut wrong = Vec::new();
    for (head, unit) in PROGRAMS {
        for length in [20_000, 70_000] {
            let taken = steps(&format!("{head}{}'", unit.repeat(length / unit.len())), &context);
            if taken > 600_000 + 12 * length {
                wrong.push(format!("{head}{unit} of {length}: {taken} steps"));
            }
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_expression_too_deep_to_follow_hides_nothing() {
    let deep = |depth: usize| {
        let line =
            format!("python3 -c 'open({}\"/etc/passwd\"{},\"w\")'", "(".repeat(depth), ")".repeat(depth));
        judge(&line, &context()).verdict
    };

    for depth in [0, 5, 50, 5_000, 30_000] {
        assert!(deep(depth) > Verdict::Allow, "{depth}");
    }
}

#[test]
fn looking_ahead_for_arithmetic_stays_linear() {
    // Each unit is whole, yet to a reader that does not know quotes two parentheses stay open.
    let unit = "((a '((');b);";
    let short = steps(&unit.repeat(2_000), &context());
    let long = steps(&unit.repeat(16_000), &context());

    assert!(long < 10 * short + 400_000, "{short} {long}");
}

#[test]
fn long_generated_lines_are_judged_exactly() {
    let lines = [
        "a;".repeat(12_000),
        "x=1;".repeat(9_000),
        "echo done; ".repeat(9_000),
        many(4_000, |n| format!("mkdir -p build/part{n};")),
        many(200, |n| format!("echo line{n} >> out.txt\n")),
        format!("cat > data.txt <<'EOF'\n{}EOF\n", "rm -rf / is only text here\n".repeat(8_000)),
    ];
    for line in lines {
        let judgement = judge(&line, &context());
        let head: String = line.chars().take(40).collect();

        assert_eq!(judgement.verdict, Verdict::Allow, "{head}: {}", judgement.why);
    }
}

#[test]
fn a_danger_behind_any_amount_of_padding_is_asked_about() {
    let context = context();
    let mut missed = Vec::new();
    for (name, unit) in shapes::UNITS {
        // An open quote or comment in front makes the rest data; those shapes hide nothing.
        for times in [1, 40, 3_000] {
            let padding = format!("{unit};\n").repeat(times);
            let alone = judge(&format!("{unit};\nrm -rf /opt/data"), &context).verdict;
            let padded = judge(&format!("{padding}rm -rf /opt/data"), &context).verdict;
            let balanced = !unit.contains(['\'', '"', '`', '\\', '#', '<', '(', '{', '[']);
            if balanced && alone > Verdict::Allow && padded == Verdict::Allow {
                missed.push(format!("{name} x {times}"));
            }
        }
    }

    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_trap_before_many_others_is_still_looked_at() {
    let text = format!("trap 'rm -rf /opt/data' INT;{}", "trap a TERM;".repeat(100));

    assert_ne!(judge(&text, &context()).verdict, Verdict::Allow);
}

#[test]
fn a_users_rule_sees_the_last_of_many_programs() {
    let rule: UserRule = serde_json::from_str(r#"{ "then": "deny", "program": "frobnicate" }"#).unwrap();
    let rules = UserRules::check([(rule, 1)]).unwrap();
    let text = format!("{}frobnicate", many(500, |n| format!("tool{n};")));

    assert_eq!(judge(&text, &context().rules(rules)).verdict, Verdict::Deny);
}

#[test]
fn a_here_document_nested_too_deeply_is_unreadable() {
    let text = format!("sh <<E\n{}\nrm -rf /opt/data\nE\n", "$(".repeat(100));

    assert_ne!(judge(&text, &context()).verdict, Verdict::Allow);
}
