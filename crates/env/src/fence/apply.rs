//! Puts a fence around the calling process: Landlock for files, signals and TCP, a seccomp filter
//! for every other socket. What cannot be put up as demanded is an error, never a weaker fence.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, RestrictSelf,
    RestrictSelfAttr as _, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus,
    Scope,
};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, openat, openat2, statat};
use rustix::io::Errno;
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use super::plan::{Granter, Rights};
use super::spec::Spec;

/// Files that can be emptied without being opened are safe from here on; without that there is no fence.
const OLDEST: ABI = ABI::V3;

/// Why the fence is not up.
#[derive(Debug, thiserror::Error)]
pub(super) enum ApplyError {
    #[error(
        "this kernel has no Landlock that can do it: Linux 6.2 or later is needed, with Landlock on at boot"
    )]
    NoLandlock,
    #[error("the kernel refused the rules: {0}")]
    Rules(#[from] landlock::RulesetError),
    #[error("cannot look at {}: {why}", path.display())]
    Path { path: PathBuf, why: io::Error },
    #[error("the kernel took the rules and does not enforce them")]
    NotEnforced,
    #[error("powers of the administrator cannot be given up: {0}")]
    Powers(io::Error),
    #[error("sockets cannot be refused here: {0}")]
    Sockets(String),
}

/// Confines this thread and everything it will start.
pub(super) fn apply(spec: &Spec) -> Result<(), ApplyError> {
    if !landlock_has(OLDEST) {
        return Err(ApplyError::NoLandlock);
    }
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::IoctlDev)?;
    if spec.no_network {
        // A second line: the filter below refuses all of these and more.
        rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    if spec.scoped {
        rules = rules.scope(Scope::from_all(ABI::V6))?;
    }
    drop_powers().map_err(ApplyError::Powers)?;
    // Names can be seen everywhere: a folder that can be entered but not listed breaks programs.
    let root = open(Path::new("/"))?.ok_or(ApplyError::NotEnforced)?;
    let created = rules.create()?.add_rule(PathBeneath::new(root, AccessFs::ReadDir))?;
    let mut rights = Rules { created: Some(created) };
    spec.plan().grant(&mut rights)?;
    let status = rights.created.ok_or(ApplyError::NotEnforced)?.restrict_self()?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(ApplyError::NotEnforced);
    }
    if spec.no_network {
        refuse_sockets(spec.unix_sockets).map_err(|why| ApplyError::Sockets(why.to_string()))?;
    }
    Ok(())
}

/// Version of Landlock here; 0 when it is missing or switched off.
pub(super) fn landlock_abi() -> u8 {
    let versions = [ABI::V1, ABI::V2, ABI::V3, ABI::V4, ABI::V5, ABI::V6, ABI::V7, ABI::V8, ABI::V9];
    versions.into_iter().zip(1..).take_while(|(abi, _)| landlock_has(*abi)).last().map_or(0, |(_, n)| n)
}

/// Whether something that came with this version is there.
fn landlock_has(abi: ABI) -> bool {
    let rules = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let flags = || RestrictSelf::default().set_compatibility(CompatLevel::HardRequirement);
    match abi {
        ABI::V4 => rules().handle_access(AccessNet::from_all(abi)).is_ok(),
        ABI::V6 => rules().scope(Scope::from_all(abi)).is_ok(),
        ABI::V7 => flags().log_subdomains(false).is_ok(),
        ABI::V8 => flags().all_threads(true).is_ok(),
        other => rules().handle_access(AccessFs::from_all(other)).is_ok(),
    }
}

/// Whether calls of this processor can be filtered.
pub(super) fn filters_calls() -> bool {
    TargetArch::try_from(std::env::consts::ARCH).is_ok()
}

/// Rules that are being collected; gone only when adding one failed.
struct Rules {
    created: Option<RulesetCreated>,
}

impl Rules {
    fn add(&mut self, fd: OwnedFd, rights: Rights) -> Result<(), ApplyError> {
        let created = self.created.take().ok_or(ApplyError::NotEnforced)?;
        self.created = Some(created.add_rule(PathBeneath::new(fd, accesses(rights)))?);
        Ok(())
    }
}

impl Granter for Rules {
    type Error = ApplyError;

    fn grant(&mut self, path: &Path, rights: Rights) -> Result<(), ApplyError> {
        if rights == Rights::None {
            return Ok(());
        }
        open(path)?.map_or(Ok(()), |fd| self.add(fd, rights))
    }

    fn grant_entries(
        &mut self,
        folder: &Path,
        rights: Rights,
        except: &mut dyn Iterator<Item = &OsStr>,
    ) -> Result<(), ApplyError> {
        use std::os::unix::ffi::OsStrExt as _;
        let except: Vec<&OsStr> = except.collect();
        let failed = |why: Errno| ApplyError::Path { path: folder.to_owned(), why: why.into() };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = match openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            Ok(handle) => handle,
            // What is not there, is no folder or cannot be listed by us has no entries to hand out.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return Ok(()),
            Err(why) => return Err(failed(why)),
        };
        let entries: Vec<_> = Dir::read_from(&handle).and_then(Iterator::collect).map_err(failed)?;
        for entry in entries {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." || except.contains(&name) {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Symlink, |stat| FileType::from_raw_mode(stat.st_mode)),
                known => known,
            };
            if kind == FileType::Symlink {
                continue;
            }
            // It may have gone meanwhile, or become a link, which the kernel will not open this way.
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(&handle, name, flags, Mode::empty()) {
                Ok(fd) => self.add_unless_link(fd, rights)?,
                Err(Errno::NOENT | Errno::ACCESS | Errno::LOOP) => {}
                Err(why) => return Err(failed(why)),
            }
        }
        Ok(())
    }
}

impl Rules {
    /// A rule on a link itself would mean nothing, and the kernel may refuse it.
    fn add_unless_link(&mut self, fd: OwnedFd, rights: Rights) -> Result<(), ApplyError> {
        match rustix::fs::fstat(&fd) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => Ok(()),
            _ => self.add(fd, rights),
        }
    }
}

/// A handle for a path none of whose parts is a link: whoever put one there since does not get what
/// it leads to.
fn open(path: &Path) -> Result<Option<OwnedFd>, ApplyError> {
    match openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => Ok(None),
        Err(why) => Err(ApplyError::Path { path: path.to_owned(), why: why.into() }),
    }
}

fn accesses(rights: Rights) -> BitFlags<AccessFs> {
    match rights {
        Rights::None => BitFlags::empty(),
        Rights::Read => AccessFs::from_read(ABI::V5),
        // Whoever can make a device can reach what is behind it: a whole disk, for one.
        Rights::Write => AccessFs::from_all(ABI::V5) & !(AccessFs::MakeChar | AccessFs::MakeBlock),
    }
}

/// Gives up what lets an administrator look or reach past the rules: into other processes, memory,
/// devices, the kernel. Who has none of it gives up nothing.
fn drop_powers() -> io::Result<()> {
    let past_the_rules = CapabilitySet::SYS_ADMIN
        | CapabilitySet::SYS_PTRACE
        | CapabilitySet::SYS_MODULE
        | CapabilitySet::SYS_RAWIO
        | CapabilitySet::SYS_BOOT
        | CapabilitySet::MKNOD
        | CapabilitySet::MAC_ADMIN
        | CapabilitySet::MAC_OVERRIDE
        | CapabilitySet::PERFMON
        | CapabilitySet::BPF
        | CapabilitySet::CHECKPOINT_RESTORE;
    let mut sets = capabilities(None)?;
    for set in [&mut sets.effective, &mut sets.permitted, &mut sets.inheritable] {
        set.remove(past_the_rules);
    }
    Ok(set_capabilities(None, sets)?)
}

/// No new sockets, by any road the kernel has. Pairs that are connected from the start stay.
fn refuse_sockets(unix: bool) -> Result<(), seccompiler::Error> {
    let socket = if unix {
        let other = u64::try_from(libc::AF_UNIX).unwrap_or_default();
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, other)?;
        vec![SeccompRule::new(vec![condition])?]
    } else {
        Vec::new()
    };
    // A ring makes sockets without a call that a filter sees.
    let calls = [(libc::SYS_socket, socket), (libc::SYS_io_uring_setup, Vec::new())];
    let calls: BTreeMap<i64, Vec<SeccompRule>> = calls
        .into_iter()
        .flat_map(|(call, rules)| spellings(call).map(move |call| (call, rules.clone())))
        .collect();
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refused = SeccompAction::Errno(u32::try_from(libc::EACCES).unwrap_or(1));
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, refused, arch)?;
    let program: seccompiler::BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)
}

/// The numbers a call has: on x86-64 a second set may be there, for programs with short pointers.
fn spellings(call: i64) -> impl Iterator<Item = i64> {
    const SHORT_POINTERS: i64 = 0x4000_0000;
    let second = cfg!(target_arch = "x86_64").then_some(call | SHORT_POINTERS);
    std::iter::once(call).chain(second)
}
