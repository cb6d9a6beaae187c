//! `podman`: the same as `docker`, with the engine that needs no daemon.

use super::docker::KEYS;
use super::{BackendDef, DISK, SIZED};
use crate::containers::{Containers, Podman};

pub(crate) const BACKEND: BackendDef = BackendDef::far::<Containers<Podman>>("podman", &[KEYS, SIZED, DISK]);
