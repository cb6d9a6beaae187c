//! The models an endpoint has, and how much fits into them, asked of the endpoint itself.

use std::time::Duration;

use hermes_core::model::{ModelError, ModelErrorClass};
use serde_json::{Value, json};

use crate::endpoint::Endpoint;
use crate::errors;
use crate::lenient;
use crate::model::{headers, refusal};
use crate::provider::Wire;
use hermes_net::Url;
use hermes_net::{Call, Http, Limits};

/// Longest list that is read.
const MAX_LIST: usize = 16 * 1024 * 1024;

/// A model that an endpoint lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    /// Its name, as requests must give it.
    pub name: String,
    /// Size of its context in tokens, where the list says.
    pub context: Option<u64>,
}

/// The models of an endpoint, in its order.
pub async fn models(http: &Http, endpoint: &Endpoint) -> Result<Vec<ListedModel>, ModelError> {
    let path = if endpoint.wire == Wire::Messages && !endpoint.base_url.trim_end_matches('/').ends_with("/v1")
    {
        "/v1/models"
    } else {
        "/models"
    };
    let url = base(endpoint)?.join(path);
    let list = fetch(http, endpoint, &url, None).await?;
    listed(&list).ok_or_else(|| {
        errors::error(endpoint, ModelErrorClass::BadAnswer, "its list of models cannot be understood", None)
    })
}

/// How much fits into the endpoint's model, as its server tells: the size it runs with where that is
/// known, which may be less than the model could take.
pub async fn context(http: &Http, endpoint: &Endpoint) -> Option<u64> {
    let base = base(endpoint).ok()?;
    let get = |path: &'static str| {
        let url = base.with_path(path);
        async move { fetch(http, endpoint, &url, None).await.ok() }
    };
    let told = match endpoint.provider.as_str() {
        "ollama" => {
            let url = base.with_path("/api/show");
            let question = json!({ "model": endpoint.model });
            fetch(http, endpoint, &url, Some(&question)).await.ok().as_ref().and_then(ollama)
        }
        "llamacpp" => get("/props").await.and_then(|props| {
            let settings = props.get("default_generation_settings")?;
            settings.get("n_ctx").or_else(|| settings.get("params")?.get("n_ctx"))?.as_u64()
        }),
        "lmstudio" => get("/api/v0/models").await.and_then(|list| {
            let models = list.get("data")?.as_array()?;
            let model = models.iter().find(|model| model["id"] == endpoint.model.as_str())?;
            model.get("loaded_context_length").or_else(|| model.get("max_context_length"))?.as_u64()
        }),
        _ => None,
    };
    if told.is_some() {
        return told;
    }
    let models = models(http, endpoint).await.ok()?;
    models.into_iter().find(|model| model.name == endpoint.model)?.context
}

/// `/api/show` of Ollama: the size set for the model, or the one it was made for.
fn ollama(shown: &Value) -> Option<u64> {
    let set = shown.get("parameters").and_then(Value::as_str).and_then(|parameters| {
        let line = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx"))?;
        line.trim().parse().ok()
    });
    set.or_else(|| {
        let about = shown.get("model_info")?.as_object()?;
        about.iter().find(|(key, _)| key.ends_with(".context_length"))?.1.as_u64()
    })
}

/// Fields that hold the size of a context.
const SIZES: [&str; 6] = [
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
    "inputTokenLimit",
];

/// Reads a list of models in any of the usual shapes.
pub(crate) fn listed(list: &Value) -> Option<Vec<ListedModel>> {
    let models = list.get("data").or_else(|| list.get("models")).unwrap_or(list).as_array()?;
    let read = |model: &Value| {
        let name = ["id", "name", "model"].iter().find_map(|key| model.get(key)?.as_str())?;
        let size = SIZES.iter().find_map(|key| model.get(key)?.as_u64());
        let size = size.or_else(|| model.get("meta")?.get("n_ctx_train")?.as_u64());
        // Google's list puts a folder before the name.
        let name = name.strip_prefix("models/").unwrap_or(name);
        Some(ListedModel { name: name.to_owned(), context: size })
    };
    Some(models.iter().filter_map(read).collect())
}

fn base(endpoint: &Endpoint) -> Result<Url, ModelError> {
    Url::parse(&endpoint.base_url).ok_or_else(|| {
        let message = format!("{:?} is no address of a model", endpoint.base_url);
        errors::error(endpoint, ModelErrorClass::BadRequest, &message, None)
    })
}

async fn fetch(
    http: &Http,
    endpoint: &Endpoint,
    url: &Url,
    question: Option<&Value>,
) -> Result<Value, ModelError> {
    let limits = Limits {
        connect: endpoint.limits.connect.min(Duration::from_secs(10)),
        idle: Duration::from_secs(15),
        total: Duration::from_secs(30),
    };
    let unreachable = |error| errors::unreachable(endpoint, &error);
    let call = match question {
        Some(question) => Call::post(url, question.to_string(), limits),
        None => Call::get(url, limits),
    };
    let mut reply = http.send(call.headers(headers(endpoint))).await.map_err(unreachable)?;
    if !reply.status.is_success() {
        return Err(refusal(endpoint, reply).await);
    }
    let body = reply.read(MAX_LIST).await.map_err(unreachable)?;
    lenient::parse(&String::from_utf8_lossy(&body)).ok_or_else(|| {
        errors::error(endpoint, ModelErrorClass::BadAnswer, &format!("{} sent no JSON", url.text()), None)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ListedModel, listed, ollama};

    #[test]
    fn lists_of_every_shape_are_read() {
        let model = |name: &str, context| ListedModel { name: name.into(), context };

        assert_eq!(
            listed(&json!({"data": [{"id": "a", "max_model_len": 8192}]})),
            Some(vec![model("a", Some(8192))])
        );
        assert_eq!(listed(&json!({"models": [{"name": "models/b"}]})), Some(vec![model("b", None)]));
        assert_eq!(
            listed(&json!([{"id": "c", "meta": {"n_ctx_train": 4096}}, 3])),
            Some(vec![model("c", Some(4096))])
        );
        assert_eq!(listed(&json!({"hello": "world"})), None);
    }

    #[test]
    fn the_size_set_for_a_model_counts_more_than_the_one_it_was_made_for() {
        let made_for = json!({"model_info": {"qwen3.context_length": 40960}});
        let set = json!({"parameters": "num_ctx                        16384\nstop x", "model_info": {"qwen3.context_length": 40960}});

        assert_eq!((ollama(&made_for), ollama(&set)), (Some(40_960), Some(16_384)));
    }
}
