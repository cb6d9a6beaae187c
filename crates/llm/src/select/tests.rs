use super::{Choice, NamedEndpoint, SelectError, Selected, Sources, Wanted, as_named, from_local, select};
use crate::catalog::ListedModel;
use crate::endpoint::Endpoint;
use crate::local::LocalServer;
use crate::provider::Wire;
use crate::secret::Secret;

#[derive(Default)]
struct World {
    flags: Wanted,
    config: Wanted,
    named: Vec<NamedEndpoint>,
    env: Vec<(&'static str, &'static str)>,
}

impl World {
    fn select(&self) -> Result<Selected, SelectError> {
        let env = |name: &str| {
            self.env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        select(&Sources { flags: &self.flags, config: &self.config, named: &self.named, env: &env })
    }

    #[track_caller]
    fn choice(&self) -> Choice {
        match self.select() {
            Ok(Selected::Choice(choice)) => choice,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn endpoint(&self) -> Endpoint {
        self.choice().endpoint.unwrap()
    }
}

fn wanted(provider: &str, model: &str) -> Wanted {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Wanted { provider: some(provider), model: some(model), ..Wanted::default() }
}

fn key(endpoint: &Endpoint) -> Option<&str> {
    endpoint.key.as_ref().map(Secret::reveal)
}

#[test]
fn a_flag_wins_over_settings_and_settings_over_the_environment() {
    let env = vec![
        ("HERMES_INFERENCE_PROVIDER", "groq"),
        ("GROQ_API_KEY", "gsk_1"),
        ("ANTHROPIC_API_KEY", "sk-ant-1"),
        ("DEEPSEEK_API_KEY", "ds-1"),
    ];
    let by_env = World { env: env.clone(), ..World::default() };
    let by_config =
        World { config: wanted("deepseek", "deepseek-reasoner"), env: env.clone(), ..World::default() };
    let by_flag = World {
        flags: wanted("claude", ""),
        config: wanted("deepseek", "deepseek-reasoner"),
        env,
        ..World::default()
    };

    assert_eq!(by_env.endpoint().label(), "groq/openai/gpt-oss-120b");
    assert_eq!(by_config.endpoint().label(), "deepseek/deepseek-reasoner");
    assert_eq!(by_flag.endpoint().label(), "anthropic/claude-sonnet-4-5");
    assert_eq!(key(&by_flag.endpoint()), Some("sk-ant-1"));
}

#[test]
fn the_model_comes_from_flag_environment_settings_and_provider_in_this_order() {
    let mut world =
        World { config: wanted("deepseek", ""), env: vec![("DEEPSEEK_API_KEY", "ds-1")], ..World::default() };
    assert_eq!(world.endpoint().model, "deepseek-chat");

    world.config.model = Some("from-settings".into());
    assert_eq!(world.endpoint().model, "from-settings");

    world.env.push(("HERMES_INFERENCE_MODEL", "from-env"));
    assert_eq!(world.endpoint().model, "from-env");

    world.flags.model = Some("from-flag".into());
    assert_eq!(world.endpoint().model, "from-flag");
}

#[test]
fn keys_decide_when_nothing_else_does() {
    let with = |env: Vec<(&'static str, &'static str)>| World { env, ..World::default() }.endpoint().provider;

    assert_eq!(with(vec![("OPENAI_API_KEY", "sk-1"), ("OPENROUTER_API_KEY", "sk-or")]), "openrouter");
    assert_eq!(with(vec![("OPENAI_API_KEY", "sk-1"), ("ANTHROPIC_API_KEY", "sk-ant")]), "openai-api");
    assert_eq!(with(vec![("MISTRAL_API_KEY", "m"), ("XAI_API_KEY", "")]), "mistral");
    assert_eq!(World::default().select(), Ok(Selected::Unconfigured));
}

#[test]
fn an_address_of_ones_own_speaks_the_wire_it_looks_like() {
    let at = |url: &str, mode: Option<&str>| {
        let config = Wanted {
            base_url: Some(url.into()),
            model: Some("m".into()),
            api_mode: mode.map(Into::into),
            ..Wanted::default()
        };
        World {
            config,
            env: vec![("FOO_API_KEY", "foo-1"), ("OPENAI_API_KEY", "sk-openai")],
            ..World::default()
        }
        .endpoint()
    };

    assert_eq!(
        (at("http://127.0.0.1:9/v1", None).wire, key(&at("http://127.0.0.1:9/v1", None))),
        (Wire::Chat, None)
    );
    assert_eq!(at("https://proxy.foo.com/anthropic", None).wire, Wire::Messages);
    assert_eq!(key(&at("https://proxy.foo.com/anthropic", None)), Some("foo-1"));
    assert_eq!(at("https://proxy.foo.com/v1/", Some("codex_responses")).wire, Wire::Responses);
    assert_eq!(key(&at("https://api.openai.com/v1", None)), Some("sk-openai"));
    assert_eq!(key(&at("https://evil.example.net/v1", None)), None);
}

#[test]
fn a_key_in_the_settings_goes_to_no_other_provider() {
    let config = Wanted {
        base_url: Some("https://llm.foo.com/v1".into()),
        api_key: Secret::new("for-foo-only"),
        model: Some("m".into()),
        ..Wanted::default()
    };
    let env = vec![("GROQ_API_KEY", "gsk_1")];
    let by_flag =
        World { flags: wanted("groq", ""), config: config.clone(), env: env.clone(), ..World::default() };
    let elsewhere = Wanted { base_url: Some("https://bar.com/v1".into()), ..Wanted::default() };
    let by_url =
        World { flags: Wanted { model: Some("x".into()), ..elsewhere }, config, env, ..World::default() };

    assert_eq!(key(&by_flag.endpoint()), Some("gsk_1"));
    assert_eq!(by_flag.endpoint().model, "openai/gpt-oss-120b");
    assert_eq!(key(&by_url.endpoint()), None);
}

#[test]
fn endpoints_of_ones_own_are_found_by_name() {
    let mut mine = NamedEndpoint::new("mybox", "http://192.168.1.9:8000/v1");
    mine.default_model = Some("qwen3".into());
    mine.key_env = Some("MYBOX_KEY".into());
    mine.context_lengths = vec![("qwen3".into(), 16_384)];
    let world = |name: &str, named: &NamedEndpoint| World {
        flags: wanted(name, ""),
        named: vec![named.clone()],
        env: vec![("MYBOX_KEY", "k-1")],
        ..World::default()
    };

    for name in ["mybox", "custom:mybox", "MyBox"] {
        let endpoint = world(name, &mine).endpoint();
        assert_eq!(
            (endpoint.label().as_str(), endpoint.context, key(&endpoint)),
            ("mybox/qwen3", Some(16_384), Some("k-1"))
        );
    }
    mine.enabled = false;
    assert_eq!(world("mybox", &mine).select(), Err(SelectError::Disabled("mybox".into())));
}

#[test]
fn a_model_may_name_its_provider() {
    let world = |model: &str| World {
        flags: wanted("", model),
        env: vec![("GROQ_API_KEY", "gsk_1"), ("OPENROUTER_API_KEY", "sk-or")],
        ..World::default()
    };

    assert_eq!(world("groq:llama-3.1-8b-instant").endpoint().label(), "groq/llama-3.1-8b-instant");
    assert_eq!(world("qwen3:8b").endpoint().label(), "openrouter/qwen3:8b");
}

#[test]
fn what_is_wrong_is_said_with_a_way_out() {
    let wrong = |flags: Wanted| World { flags, ..World::default() }.select().unwrap_err().to_string();

    assert_eq!(wrong(wanted("antropic", "")), "there is no provider \"antropic\"; did you mean anthropic?");
    assert_eq!(
        wrong(wanted("groq", "")),
        "Groq needs a key: set GROQ_API_KEY (keys: https://console.groq.com/keys)"
    );
    assert_eq!(wrong(wanted("custom", "m")), "the provider \"custom\" needs an address: set model.base_url");
    assert_eq!(
        wrong(Wanted { base_url: Some("localhost:80".into()), ..Wanted::default() }),
        "\"localhost:80\" is no http or https address"
    );
}

#[test]
fn addresses_in_variables_come_as_people_write_them() {
    let at = |host: &'static str| {
        let world =
            World { flags: wanted("ollama", "m"), env: vec![("OLLAMA_HOST", host)], ..World::default() };
        world.endpoint().base_url
    };

    assert_eq!(at("0.0.0.0"), "http://127.0.0.1:11434/v1");
    assert_eq!(at("box:9999"), "http://box:9999/v1");
    assert_eq!(at("http://box:9999/v1/"), "http://box:9999/v1");
}

#[test]
fn a_local_provider_without_a_model_is_asked_for_one() {
    let world = World { flags: wanted("ollama", ""), ..World::default() };

    assert!(matches!(world.select(), Ok(Selected::NeedsModel(_))));
}

#[test]
fn servers_on_this_machine_are_taken_when_nothing_is_configured() {
    let model = |name: &str, context| ListedModel { name: name.into(), context };
    let found = [
        LocalServer {
            provider: "ollama",
            base_url: "http://127.0.0.1:11434/v1".into(),
            models: vec![model("nomic-embed-text", None)],
        },
        LocalServer {
            provider: "vllm",
            base_url: "http://127.0.0.1:8000/v1".into(),
            models: vec![model("qwen", Some(32_768))],
        },
    ];
    let (flags, config) = (Wanted::default(), Wanted::default());
    let sources = Sources { flags: &flags, config: &config, named: &[], env: &|_| None };

    let taken = from_local(&sources, &found).endpoint.unwrap();

    assert_eq!((taken.label().as_str(), taken.context), ("vllm/qwen", Some(32_768)));
    assert_eq!(from_local(&sources, &[]).endpoint, None);
    let flags = wanted("", "gpt-5");
    let sources = Sources { flags: &flags, ..sources };
    let other = as_named(&sources, from_local(&sources, &found));
    assert_eq!(other, Err(SelectError::Nowhere("gpt-5".to_owned())));
    let flags = wanted("", "qwen");
    let sources = Sources { flags: &flags, ..sources };
    assert!(as_named(&sources, from_local(&sources, &found)).is_ok());
}

#[test]
fn every_choice_says_why() {
    let world = World { env: vec![("ANTHROPIC_API_KEY", "sk-ant-1")], ..World::default() };

    assert_eq!(
        world.choice().why,
        [
            "provider anthropic: ANTHROPIC_API_KEY is set",
            "key: ANTHROPIC_API_KEY",
            "model claude-sonnet-4-5: the provider's usual one",
        ]
    );
}
