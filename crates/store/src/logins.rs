//! `auth.json`: logins that last, by the name of the service.
//!
//! Other programs keep theirs in the same file. What is not ours to know stays as it is, and the file is
//! read again, under a lock, before every change.

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::host::{Host, blocking};
use hermes_core::logins::{LoginError, Logins};
use serde_json::{Map, Value, json};

use crate::disk::{self, Mode};
use crate::error::StoreError;
use crate::home::Home;

const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Under this key the file has one object per service.
const SERVICES: &str = "providers";

/// The logins of a home.
#[derive(Clone)]
pub struct HomeLogins {
    home: Home,
    host: Arc<dyn Host>,
}

impl HomeLogins {
    /// Those of this home. Nothing is read before it is asked for.
    pub fn new(home: &Home, host: &Arc<dyn Host>) -> Self {
        Self { home: home.clone(), host: Arc::clone(host) }
    }

    /// What is kept for a service, for code that just waits.
    pub fn read(home: &Home, service: &str) -> Result<Option<Map<String, Value>>, StoreError> {
        let mut file = whole(home)?;
        match file.get_mut(SERVICES).and_then(|services| services.get_mut(service)).map(Value::take) {
            Some(Value::Object(login)) if !login.is_empty() => Ok(Some(login)),
            _ => Ok(None),
        }
    }

    /// Puts these fields into what is kept for a service, for code that just waits; a field that is null
    /// is taken out.
    pub fn write(home: &Home, service: &str, fields: Map<String, Value>) -> Result<(), StoreError> {
        let _lock = disk::lock(&home.auth())?;
        let mut file = whole(home)?;
        file.entry("version").or_insert(json!(1));
        let mut services = members(file.shift_remove(SERVICES));
        let mut login = members(services.shift_remove(service));
        login.extend(fields);
        login.retain(|_, value| !value.is_null());
        services.insert(service.to_owned(), Value::Object(login));
        file.insert(SERVICES.to_owned(), Value::Object(services));
        save(home, file)
    }

    /// Takes away what is kept for a service; `false` when nothing was.
    pub fn forget(home: &Home, service: &str) -> Result<bool, StoreError> {
        let _lock = disk::lock(&home.auth())?;
        let mut file = whole(home)?;
        let mut services = members(file.shift_remove(SERVICES));
        if services.shift_remove(service).is_none() {
            return Ok(false);
        }
        file.insert(SERVICES.to_owned(), Value::Object(services));
        save(home, file).map(|()| true)
    }
}

fn save(home: &Home, file: Map<String, Value>) -> Result<(), StoreError> {
    disk::write(&home.auth(), &format!("{:#}\n", Value::Object(file)), Mode::Private)
}

fn members(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

fn whole(home: &Home) -> Result<Map<String, Value>, StoreError> {
    let path = home.auth();
    let Some(text) = disk::read(&path, MAX_BYTES)?.filter(|text| !text.trim().is_empty()) else {
        return Ok(Map::new());
    };
    serde_json::from_str(&text).map_err(|wrong| StoreError::Syntax {
        path,
        line: wrong.line() as u64,
        column: wrong.column() as u64,
        why: wrong.to_string(),
    })
}

impl Logins for HomeLogins {
    fn login<'a>(
        &'a self,
        service: &'a str,
    ) -> BoxFuture<'a, Result<Option<Map<String, Value>>, LoginError>> {
        let (home, service) = (self.home.clone(), service.to_owned());
        Box::pin(async move {
            let read = blocking(&self.host, move || Self::read(&home, &service)).await;
            read.map_err(told)?.map_err(told)
        })
    }

    fn renew<'a>(
        &'a self,
        service: &'a str,
        fields: Map<String, Value>,
    ) -> BoxFuture<'a, Result<(), LoginError>> {
        let (home, service) = (self.home.clone(), service.to_owned());
        Box::pin(async move {
            let written = blocking(&self.host, move || Self::write(&home, &service, fields)).await;
            written.map_err(told)?.map_err(told)
        })
    }
}

fn told(why: impl std::error::Error) -> LoginError {
    LoginError(why.to_string())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "looks at the file itself")]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn fields(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_login_is_kept_for_its_owner_alone_beside_those_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        std::fs::write(home.auth(), r#"{"active_provider":"nous","providers":{"nous":{"a":1}}}"#).unwrap();

        HomeLogins::write(&home, "spotify", fields(&json!({ "access_token": "t1", "expires_at": "x" })))
            .unwrap();
        HomeLogins::write(&home, "spotify", fields(&json!({ "access_token": "t2", "expires_at": null })))
            .unwrap();

        let text = std::fs::read_to_string(home.auth()).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            json!({
                "active_provider": "nous",
                "providers": { "nous": { "a": 1 }, "spotify": { "access_token": "t2" } },
                "version": 1,
            })
        );
        assert_eq!(std::fs::metadata(home.auth()).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(HomeLogins::read(&home, "spotify").unwrap().unwrap()["access_token"], "t2");
        assert_eq!(HomeLogins::read(&home, "other").unwrap(), None);
        assert!(
            HomeLogins::forget(&home, "spotify").unwrap() && !HomeLogins::forget(&home, "spotify").unwrap()
        );
        assert_eq!(HomeLogins::read(&home, "nous").unwrap().unwrap()["a"], 1);
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        std::fs::write(home.auth(), "{broken").unwrap();

        assert!(HomeLogins::write(&home, "spotify", fields(&json!({ "a": 1 }))).is_err());
        assert!(HomeLogins::read(&home, "spotify").is_err());
        assert_eq!(std::fs::read_to_string(home.auth()).unwrap(), "{broken");
    }
}
