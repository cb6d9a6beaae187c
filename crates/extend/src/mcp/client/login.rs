//! `auth: oauth` and `oauth:` of a server in `config.yaml`: how the right to ask it is got.

use std::time::Duration;

use serde_json::{Map, Value};

use super::written::{seconds, section, text};

/// `auth: oauth` and `oauth:`.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct OAuth {
    /// A client registered by hand.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// A file with the key it signs with, instead of a secret.
    pub private_key: Option<String>,
    /// What is asked for, instead of what the server suggests.
    pub scope: Option<String>,
    /// The port that the answer of the browser comes back to; any when not set.
    pub redirect_port: Option<u16>,
    /// The whole address the answer comes back to, where something else forwards it.
    pub redirect_uri: Option<String>,
    /// The host in that address.
    pub redirect_host: Option<String>,
    /// What the client is called when it registers itself.
    pub client_name: Option<String>,
    /// An `https` address of a document that describes the client, for servers that take one.
    pub client_metadata_url: Option<String>,
    /// Who says yes.
    pub grant: Grant,
    /// How long the person may take.
    pub timeout: Option<Duration>,
}

/// Who says yes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Grant {
    /// A person, in a browser.
    #[default]
    Person,
    /// Nobody: the client asks in its own name (`grant: client_credentials`).
    OwnName,
    /// The directory of the company that the person has logged in to (`grant: directory`).
    Directory(Directory),
}

/// A company's directory (`oauth.directory`), which vouches for those who have logged in to it.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Directory {
    /// Who it is; it says itself where it is asked.
    pub issuer: Option<String>,
    /// Where it is asked, when it does not say.
    pub token_endpoint: Option<String>,
    /// The client that it knows us as.
    pub client_id: Option<String>,
    /// Its secret, if it has one.
    pub client_secret: Option<String>,
    /// What the person got when they logged in.
    pub id_token: Option<String>,
}

impl std::fmt::Debug for OAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OAuth").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Directory").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// What the section says.
pub(super) fn oauth(map: &Map<String, Value>) -> Result<OAuth, String> {
    Ok(OAuth {
        client_id: text(map, "client_id"),
        client_secret: text(map, "client_secret"),
        private_key: text(map, "private_key"),
        scope: text(map, "scope"),
        redirect_port: text(map, "redirect_port")
            .and_then(|port| port.parse().ok())
            .filter(|port| *port != 0),
        redirect_uri: text(map, "redirect_uri"),
        redirect_host: text(map, "redirect_host"),
        client_name: text(map, "client_name"),
        client_metadata_url: text(map, "client_metadata_url"),
        grant: match text(map, "grant").as_deref() {
            None | Some("authorization_code") => Grant::Person,
            Some("client_credentials") => Grant::OwnName,
            Some("directory") => Grant::Directory(directory(&section(map, "directory"))?),
            Some(other) => {
                return Err(format!(
                    "`oauth.grant` is `{other}`: it can be `authorization_code`, `client_credentials` or `directory`"
                ));
            }
        },
        timeout: seconds(map, "timeout"),
    })
}

fn directory(map: &Map<String, Value>) -> Result<Directory, String> {
    let directory = Directory {
        issuer: text(map, "issuer"),
        token_endpoint: text(map, "token_endpoint"),
        client_id: text(map, "client_id"),
        client_secret: text(map, "client_secret"),
        id_token: text(map, "id_token"),
    };
    if directory.issuer.is_none() && directory.token_endpoint.is_none() {
        return Err("`oauth.directory` has neither `issuer` nor `token_endpoint`".to_owned());
    }
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Result<OAuth, String> {
        oauth(value.as_object().unwrap())
    }

    #[test]
    fn a_person_says_yes_unless_something_else_is_said() {
        let directory = json!({ "issuer": "https://idp.example", "client_id": "c", "id_token": "t" });
        let vouched = read(&json!({ "grant": "directory", "directory": directory })).unwrap();

        assert_eq!(read(&json!({})).unwrap().grant, Grant::Person);
        assert_eq!(read(&json!({ "grant": "client_credentials" })).unwrap().grant, Grant::OwnName);
        assert!(
            matches!(vouched.grant, Grant::Directory(it) if it.issuer.as_deref() == Some("https://idp.example"))
        );
        assert!(read(&json!({ "grant": "directory" })).unwrap_err().contains("issuer"));
        assert!(read(&json!({ "grant": "magic" })).unwrap_err().contains("`magic`"));
    }

    #[test]
    fn nothing_secret_is_shown() {
        let directory = json!({ "issuer": "i", "client_secret": "s3", "id_token": "s4" });
        let all = json!({ "client_secret": "s1", "private_key": "s2", "grant": "directory", "directory": directory });

        let shown = format!("{:?} {:?}", read(&all).unwrap(), read(&all).unwrap().grant);

        assert!(!["s1", "s2", "s3", "s4"].iter().any(|secret| shown.contains(secret)), "{shown}");
    }
}
