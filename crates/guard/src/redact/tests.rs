//! What is taken out, what is left alone, and what holds for every text.

use proptest::prelude::*;

use super::encode::spellings;
use super::*;

fn formats(text: &str) -> String {
    Redactor::default().redact(text).into_owned()
}

/// Keys are put together here, so that this file holds none.
fn key(prefix: &str, length: usize) -> String {
    let tail: String = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z0C".chars().cycle().take(length).collect();
    format!("{prefix}{tail}")
}

fn hex(prefix: &str, length: usize) -> String {
    let tail: String = "3f9a0c7e5b1d8246".chars().cycle().take(length).collect();
    format!("{prefix}{tail}")
}

#[test]
fn keys_with_a_telling_beginning_go() {
    let keys = [
        key("sk-", 48),
        key("sk-proj-", 80),
        key("sk-ant-api03-", 90),
        key("ghp_", 36),
        key("gho_", 36),
        key("github_pat_", 82),
        key("glpat-", 20),
        key("xoxb-123456789012-", 24),
        key("AIza", 35),
        key("sk_live_", 24),
        key("rk_live_", 24),
        key("hf_", 34),
        key("npm_", 36),
        key("pypi-AgEIcHlwaS5vcmc", 90),
        hex("SK", 32),
        hex("dop_v1_", 64),
        hex("sk-", 32),
        key("gsk_", 52),
        key("SG.", 22) + &key(".", 43),
        "AKIA".to_owned() + "Q3EGB7T2XLKM5ZPV",
        "ASIA".to_owned() + "Q3EGB7T2XLKM5ZPV",
        key("eyJhbGciOiJIUzI1NiJ9.eyJzdWIi", 20) + &key(".", 43),
        key("123456789:AA", 33),
        key("M", 23) + ".Ab3dE5." + &key("", 38),
        key("whsec_", 32),
        key("hvs.", 24),
        hex("key-", 32),
        key("ya29.", 60),
        key("glsa_", 32),
    ];
    for secret in keys {
        for text in [
            secret.clone(),
            format!("a {secret} b"),
            format!("\"{secret}\""),
            format!("x\\n{secret}\\n"),
            format!("({secret})."),
        ] {
            let clean = formats(&text);
            assert!(!clean.contains(&secret) && clean.contains(REDACTED), "{text} -> {clean}");
            let tail: String = secret.chars().rev().take(8).collect::<Vec<_>>().into_iter().rev().collect();
            assert!(!clean.contains(&tail), "{text} -> {clean}");
        }
    }
}

#[test]
fn assigned_secrets_go_and_their_names_stay() {
    for (text, want) in [
        ("password=hunter2", "password=[REDACTED]"),
        ("PASSWORD=correcthorse", "PASSWORD=[REDACTED]"),
        ("export DB_PASSWORD='s3cr3t!x'", "export DB_PASSWORD='[REDACTED]'"),
        ("{\"password\": \"hunter2\"}", "{\"password\": \"[REDACTED]\"}"),
        ("{\"api_key\":\"a8f3k2l9x0\",\"n\":1}", "{\"api_key\":\"[REDACTED]\",\"n\":1}"),
        ("{\\\"api_key\\\":\\\"a8f3k2l9x0\\\"}", "{\\\"api_key\\\":\\\"[REDACTED]\\\"}"),
        ("api_key: 9f8e7d6c5b4a", "api_key: [REDACTED]"),
        ("apiKey = \"9f8e7d6c5b4a\"", "apiKey = \"[REDACTED]\""),
        ("X-Api-Key: 9f8e7d6c5b4a", "X-Api-Key: [REDACTED]"),
        (
            "aws_secret_access_key = wJalrXUtnF3MI/K7MDENG/bPxRfiCYzzzzzzzKEY",
            "aws_secret_access_key = [REDACTED]",
        ),
        ("mysql --password=abc123xyz -h db", "mysql --password=[REDACTED] -h db"),
        ("tool --token 9f8e7d6c5b4a run", "tool --token [REDACTED] run"),
        ("<password>hunter2!</password>", "<password>[REDACTED]</password>"),
        (
            "Server=db;User Id=sa;Password=Pa55w0rd!;Encrypt=true",
            "Server=db;User Id=sa;Password=[REDACTED];Encrypt=true",
        ),
        ("AccountKey=abcd1234EFGH5678ijkl9012==;x=y", "AccountKey=[REDACTED];x=y"),
        ("https://x.io/cb?access_token=a1b2c3d4e5f6&x=1", "https://x.io/cb?access_token=[REDACTED]&x=1"),
        ("postgres://app:s3cr3tpw@db:5432/x", "postgres://app:[REDACTED]@db:5432/x"),
        ("redis://:p4ssw0rd9@cache/0", "redis://:[REDACTED]@cache/0"),
        ("https://user:p@ss@host/x", "https://user:[REDACTED]@host/x"),
        (
            "//registry.npmjs.org/:_authToken=a1b2c3d4-e5f6-7890",
            "//registry.npmjs.org/:_authToken=[REDACTED]",
        ),
        ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [REDACTED]"),
        ("{\"Authorization\": \"Basic dXNlcjpwYXNzMTIz\"}", "{\"Authorization\": \"Basic [REDACTED]\"}"),
        ("curl -H 'authorization: token 0123456789abcdef01'", "curl -H 'authorization: token [REDACTED]'"),
    ] {
        assert_eq!(formats(text), want, "{text}");
    }
}

#[test]
fn private_key_blocks_go_whole() {
    let body = "MIIEpAIBAAKCAQEA3+abc/def\nGhIjKlMnOpQrStUvWxYz0123456789+/AbCdEf==";
    for label in
        ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]
    {
        let block = format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----");
        assert_eq!(formats(&format!("a\n{block}\nb")), "a\n[REDACTED]\nb");
        let escaped = block.replace('\n', "\\n");
        assert_eq!(formats(&format!("{{\"k\":\"{escaped}\\n\"}}")), "{\"k\":\"[REDACTED]\\n\"}");
        let cut = format!("-----BEGIN {label}-----\n{body}");
        assert!(!formats(&cut).contains("GhIjKl"), "{}", formats(&cut));
    }
    let public = format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----");
    assert_eq!(formats(&public), public);
}

#[test]
fn what_only_looks_secret_stays() {
    let sha = "d670460b4b4aece5915caf5c68d12f560a9fe3e4";
    let texts = [
        sha.to_owned(),
        format!("commit {sha}"),
        "550e8400-e29b-41d4-a716-446655440000".to_owned(),
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk".to_owned(),
        "sk-...".to_owned(),
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx".to_owned(),
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".to_owned(),
        "OPENAI_API_KEY=sk-your-key-here".to_owned(),
        "API_KEY=<your-api-key>".to_owned(),
        "token: $TOKEN".to_owned(),
        "password=${DB_PASSWORD}".to_owned(),
        "password: \"{{ vault_password }}\"".to_owned(),
        "password: ********".to_owned(),
        "token = <token>".to_owned(),
        "\"password\": \"string\"".to_owned(),
        "password: string".to_owned(),
        "let token = self.next_token();".to_owned(),
        "token = parser.peek()".to_owned(),
        "const secret = process.env.SECRET".to_owned(),
        "secret = os.environ[\"API_SECRET\"]".to_owned(),
        "fn token(&self) -> Token {".to_owned(),
        "api_key: Option<String>,".to_owned(),
        "max_tokens=4096".to_owned(),
        "\"total_tokens\": 123456".to_owned(),
        "\"token_count\": \"12345678\"".to_owned(),
        "password_hint: mother2maiden".to_owned(),
        "the token is used to log in".to_owned(),
        "Forgot your password? Click here".to_owned(),
        "sk-circle-fade-dot-animation-delay-12".to_owned(),
        "class=\"sk-fading-circle sk-child-container-element\"".to_owned(),
        "scikit-learn sk-learn".to_owned(),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        "bearer of bad news".to_owned(),
        "Authorization: Bearer <token>".to_owned(),
        "Authorization: Bearer $TOKEN".to_owned(),
        "https://user@example.com/x".to_owned(),
        "postgres://user:password@localhost/db".to_owned(),
        "https://example.com:8080/a@b".to_owned(),
        "git@github.com:o/r.git".to_owned(),
        "enum Token { Ident, Number }".to_owned(),
        "if token == expected {".to_owned(),
        "secret_name: my-secret-name".to_owned(),
        "token: \"access_token\"".to_owned(),
        "hf_transfer".to_owned(),
        "npm_config_registry".to_owned(),
        "npm_lifecycle_event".to_owned(),
        "pypi-publish".to_owned(),
        "key-value".to_owned(),
        "monkey-patch".to_owned(),
        "12:AAAA".to_owned(),
        "v1.2.3-rc.1".to_owned(),
        "private_key_path = /home/user/.ssh/id_rsa".to_owned(),
        "credentials: include".to_owned(),
        "tokenizer=cl100k_base".to_owned(),
        "eyJ is how they begin".to_owned(),
        "password = getpass()".to_owned(),
        "--password-file /run/x".to_owned(),
        "use std::collections::HashMap; // secret: none".to_owned(),
        "token::Kind".to_owned(),
        "pwd=/home/user/project".to_owned(),
        "\"AWS::ApiGateway::ApiKey\": \"48205d4ffd7feba3\"".to_owned(),
        "pub const USED_LM_PASSWORD: MSV_FILTER = 8u32;".to_owned(),
        "self.key_password = key_password".to_owned(),
        "\"invalid_token\": InvalidContinuationToken,".to_owned(),
        "PASSWORD_ID_DEFAULT = 0x0000,".to_owned(),
        "USER_PASSWORD_AUTH = \"USER_PASSWORD_AUTH\"".to_owned(),
    ];
    for text in texts {
        assert_eq!(formats(&text), text);
        assert!(matches!(Redactor::default().redact(&text), Cow::Borrowed(_)));
    }
}

#[test]
fn known_values_go_in_every_dress() {
    let value = "p/q+R s\"7\\t-ü~9xyz";
    let redactor = Redactor::new([value]);
    for spelling in spellings(value) {
        let text = format!("<<{spelling}>>");
        assert!(!redactor.redact(&text).contains(&spelling), "{spelling}");
    }
    let redactor = Redactor::new(["correct-horse-battery"]);
    for text in [
        "correct-horse-battery",
        "correct-\nhorse-battery",
        "correct-ho\r\n  rse-battery",
        "c o r r e c t - h o r s e - b a t t e r y",
        "correct-horse\\n-battery",
        "correct-hor\\\nse-battery",
        "corr\u{200b}ect-horse-battery",
        "\\ncorrect-horse-battery\\n",
    ] {
        assert_eq!(
            redactor.redact(&format!("[{text}]")),
            "[[REDACTED]]"
                .replace("[[", if text.starts_with('\\') { "[\\n[" } else { "[[" })
                .replace("]]", if text.ends_with("\\n") { "]\\n]" } else { "]]" }),
            "{text}"
        );
    }
}

#[test]
fn a_known_value_inside_longer_base64_goes() {
    let value = "Zx9-secret-value!";
    let redactor = Redactor::new([value]);
    // "a", "ab", "abc" before it and "tail" after it, encoded together.
    for encoded in [
        "YVp4OS1zZWNyZXQtdmFsdWUhdGFpbA==",
        "YWJaeDktc2VjcmV0LXZhbHVlIXRhaWw=",
        "YWJjWng5LXNlY3JldC12YWx1ZSF0YWls",
        "YWJjWng5LXNlY3Jl\ndC12YWx1ZSF0YWls",
    ] {
        let clean = redactor.redact(encoded);
        assert!(clean.contains(REDACTED), "{encoded}");
        assert!(clean.len() < encoded.len() - 8, "{clean}");
    }
}

#[test]
fn short_values_are_not_used_and_words_do_not_grow_together() {
    let redactor = Redactor::new(["abc", "", "  ", "yes", "secret"]);
    assert_eq!(redactor.redact("abc yes"), "abc yes");
    assert_eq!(redactor.redact("a secret"), "a [REDACTED]");
    assert_eq!(redactor.redact("sec ret"), "sec ret");
}

#[test]
fn a_json_text_stays_json() {
    let redactor = Redactor::new(["12345678", "nested\\value", "u0041bcdef", "ends-with\\"]);
    for (text, want) in [
        ("{\"id\": 12345678}", "{\"id\": \"[REDACTED]\"}"),
        ("[9123456780, 1]", "[\"[REDACTED]\", 1]"),
        ("{\"a\": \"x, 12345678, y\"}", "{\"a\": \"x, [REDACTED], y\"}"),
        ("{\"a\": \"\\u0041bcdef\"}", "{\"a\": \"[REDACTED]\"}"),
        ("{\"a\": \"ends-with\\\\\"}", "{\"a\": \"[REDACTED]\"}"),
        ("{\"password\": \"ab\\\"cd12\"}", "{\"password\": \"[REDACTED]\"}"),
    ] {
        let clean = redactor.redact(text);
        assert_eq!(clean, want);
        serde_json::from_str::<serde_json::Value>(&clean).unwrap();
    }
}

#[test]
fn hostile_texts_take_no_longer_than_others() {
    let redactor = Redactor::new(["abababab", "12345678"]);
    for part in [
        "sk-",
        "eyJ-",
        "token=",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "password='",
        "\\",
        "ab",
        "1234567",
        ".",
        "\\n",
        "bearer ",
        "[REDACTED]",
        "\"",
        "M.aaaaaa.",
    ] {
        let text = part.repeat(100_000 / part.len());
        let _ = redactor.redact(&text);
    }
}

/// Text in which secrets and the things around them are likely.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,6}",
        "[ -~]{0,12}",
        Just("password=".to_owned()),
        Just("\"token\": \"".to_owned()),
        Just("hunter2abc".to_owned()),
        Just("\\".to_owned()),
        Just("\"".to_owned()),
        Just("\n".to_owned()),
        Just("://".to_owned()),
        Just("@".to_owned()),
        Just("[REDACTED]".to_owned()),
        Just(key("ghp_", 36)),
        Just("Bearer ".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        Just("eyJhbGciOiJIUzI1.".to_owned()),
        Just("Zq8-known_Value".to_owned()),
        Just("Zq8-kn".to_owned()),
        Just("own_Value".to_owned()),
        Just("12345678".to_owned()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_is_redacted_once_and_for_all(text in soup()) {
        let redactor = Redactor::new(["Zq8-known_Value", "12345678"]);
        let once = redactor.redact(&text).into_owned();
        prop_assert!(!once.contains("Zq8-known_Value"));
        let twice = redactor.redact(&once);
        prop_assert_eq!(&*twice, &*once);
    }

    #[test]
    fn no_known_value_survives_in_any_spelling(value in "[!-~]{8,40}|\\PC{8,20}", before in "\\PC{0,8}", after in "\\PC{0,8}") {
        let value = value.trim();
        prop_assume!(value.len() >= 8 && !value.contains("REDACTED"));
        let redactor = Redactor::new([value]);
        for spelling in spellings(value) {
            if spelling.len() < 8 { continue; }
            let clean = redactor.redact(&format!("{before}{spelling}{after}")).into_owned();
            prop_assert!(!clean.contains(&spelling), "{} in {}", spelling, clean);
        }
    }

    #[test]
    fn no_known_value_survives_being_wrapped(value in "[!-~]{8,40}", width in 1..12_usize) {
        prop_assume!(!value.contains("REDACTED"));
        let redactor = Redactor::new([&value]);
        let wrapped: Vec<String> = value.as_bytes().chunks(width).map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        for glue in ["\n", "\r\n", " ", "\n\t"] {
            let clean = redactor.redact(&wrapped.join(glue)).into_owned();
            let bare: String = clean.split_whitespace().collect();
            prop_assert!(!bare.contains(&value), "{}", clean);
        }
    }

    #[test]
    fn json_stays_json(keys in prop::collection::vec("password|token|n|\\PC{0,5}", 1..5), texts in prop::collection::vec(soup(), 1..5), number: u64) {
        let redactor = Redactor::new(["Zq8-known_Value", "12345678", "0000001"]);
        let mut map = serde_json::Map::new();
        for (key, text) in keys.into_iter().zip(texts) {
            map.insert(key, serde_json::Value::String(text));
        }
        map.insert("number".into(), number.into());
        map.insert("known".into(), 1_234_567_890_u64.into());
        let value = serde_json::Value::Object(map);
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap(), serde_json::Value::String(value.to_string()).to_string()] {
            let clean = redactor.redact(&text);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&clean).is_ok(), "{} -> {}", text, clean);
        }
    }
}
