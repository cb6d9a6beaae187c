# shellcheck shell=bash
# What all scripts share. Sourced, never run: it moves to the root of the repository and
# makes sure that `cargo` means the toolchain the repository asks for.

# Taken from where this file lies, not from git: a checkout owned by another user, or an
# unpacked archive, must work too.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$ROOT" || exit
export CARGO_NET_RETRY="${CARGO_NET_RETRY:-5}"

# Exit code of a script that could not do its work on this machine, which is not the same
# as having found a fault.
# shellcheck disable=SC2034
CANNOT=3

say() { printf '%s\n' "$*" >&2; }
die() {
    say "error: $*"
    exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
in_ci() { [[ ${CI:-} == true ]]; }

# The crates that do no input or output, so they compile for a target that has none.
pure_crates() {
    local crate
    for crate in core guard; do
        [[ ! -f crates/$crate/Cargo.toml ]] || printf 'hermes-%s\n' "$crate"
    done
}

# install PACKAGE…: installs Debian packages when that is possible here.
install() {
    if [[ $(id -u) != 0 ]] || ! have apt-get; then
        say "missing here, please install (Debian names): $*"
        return 1
    fi
    say "installing: $*"
    # The lists may be absent or stale: try with what is there, then with fresh ones.
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null 2>&1 && return
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}

# need COMMAND [PACKAGE]: the command must be there, from the package of that name.
need() {
    have "$1" || install "${2:-$1}" || die "$1 is needed"
    have "$1" || die "$1 is still not there after installing ${2:-$1}"
}

# The toolchain pinned in rust-toolchain.toml may be on the machine under another name
# (`stable`), where rustup may neither find nor fetch it. The version is what counts.
toolchain() {
    local pinned name
    have cargo || [[ ! -x ${CARGO_HOME:-$HOME/.cargo}/bin/cargo ]] || PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
    have cargo || die "cargo is not here; install rustup, then run: rustup toolchain install"
    cargo --version >/dev/null 2>&1 && return
    have rustup || die "$(cargo --version 2>&1 || true)"
    pinned=$(sed -n 's/^channel *= *"\(.*\)"/\1/p' rust-toolchain.toml)
    while read -r name _; do
        if [[ $(rustup run "$name" rustc --version 2>/dev/null) == "rustc $pinned "* ]]; then
            export RUSTUP_TOOLCHAIN=$name
            say "using toolchain $name, which is $pinned"
            return
        fi
    done < <(rustup toolchain list)
    say "installing toolchain $pinned"
    rustup toolchain install "$pinned" --profile minimal --component rustfmt --component clippy ||
        die "rustc $pinned is not here and could not be fetched"
}

# The folder cargo builds into, which the user's own settings may have moved.
target_dir() {
    cargo metadata --no-deps --format-version 1 |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])'
}
