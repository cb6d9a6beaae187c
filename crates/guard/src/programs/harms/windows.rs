//! Tools of Windows that change the registry, services or trust, or run code for others.

use super::{ACCOUNTS, ERASES, Harm, STOPS, WEAKENS, harm};
use crate::effect::Kind;

const LOADS: &str = "runs code from a library or script";
const REGISTRY: &str = "changes the registry";

pub(super) const TABLE: &[Harm] = &[
    harm(
        &["reg", "REG"],
        &["add", "ADD", "copy", "restore", "load", "unload", "import"],
        Kind::Kernel,
        REGISTRY,
    ),
    harm(&["reg", "REG"], &["save", "SAVE"], Kind::ReadCredential, "copies a part of the registry"),
    harm(&["sc"], &["create", "sdset", "failure", "triggerinfo"], Kind::Service, "changes a service"),
    harm(&["net"], &["/delete", "/DELETE"], Kind::Service, STOPS),
    harm(
        &["rundll32", "regsvr32", "mshta", "cmstp", "mavinject", "installutil", "regasm"],
        &[],
        Kind::RunUnseen,
        LOADS,
    ),
    harm(&["msiexec"], &["/y", "/z", "http*", "/i*"], Kind::RunUnseen, LOADS),
    harm(&["wmic"], &["/format:http*", "/FORMAT:http*", "delete", "call"], Kind::RunUnseen, LOADS),
    harm(&["ntdsutil", "esentutl"], &[], Kind::ReadCredential, "copies where accounts are kept"),
    harm(&["diskshadow"], &[], Kind::Delete, ERASES),
    harm(
        &["bitsadmin"],
        &["/transfer", "/addfile", "/SetNotifyCmdLine"],
        Kind::RunDownloaded,
        "fetches a program",
    ),
    harm(&["certutil"], &["-addstore", "-delstore", "-importpfx"], Kind::Security, WEAKENS),
    harm(
        &["fsutil"],
        &["set", "setzerodata", "deletejournal"],
        Kind::Kernel,
        "changes settings of the system",
    ),
    harm(&["netsh"], &["key=clear"], Kind::ReadCredential, "prints secrets"),
    harm(&["dsenableroot"], &["-u", "-p", "-d"], Kind::Users, ACCOUNTS),
    harm(&["auditpol"], &["/set*", "/clear*", "/remove*"], Kind::Security, WEAKENS),
    harm(&["mdatp"], &["disabled"], Kind::Security, WEAKENS),
];
