"""Rules of the workspace that the compiler does not know.

Every package of the lock file comes from crates.io, and there are not too many of them;
every crate of ours knows only the crates it may know; the pure crates open no door.
Reads files only: no network, nothing but the standard library.
"""

import json
import pathlib
import re
import subprocess
import sys

MOST_PACKAGES = 600
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"

# Which crates of ours each crate may use. A crate that is not named here is a sibling: it
# knows the core and nothing else.
CORE = {"hermes-core"}
NET = {"hermes-net"}
SIBLINGS = {f"hermes-{room}" for room in ("tools", "env", "llm", "extend", "store", "agent", "guard")}
MAY_USE = {
    "hermes-core": set(),
    "hermes-build": set(),
    "hermes-net": set(),
    "hermes-llm": CORE | NET,
    "hermes-extend": CORE | NET,
    "hermes-env": CORE | NET,
    "hermes": CORE | NET | SIBLINGS,
    "hermes-gateway": CORE | {"hermes"},
    "hermes-cli": CORE | {"hermes", "hermes-gateway"},
    "hermes-bench": CORE | NET | SIBLINGS | {"hermes", "hermes-gateway", "hermes-testkit"},
}
PURE = {"hermes-core", "hermes-guard"}


def foreign_packages(lock, members):
    """Packages of the lock file that are neither ours nor from crates.io, and their number."""
    packages = lock.split("[[package]]")[1:]
    if len(packages) >= MOST_PACKAGES:
        yield f"Cargo.lock has {len(packages)} packages; fewer than {MOST_PACKAGES} are wanted"
    for package in packages:
        field = dict(re.findall(r'^(\w+) = "(.*)"$', package, re.M))
        name, source = field.get("name"), field.get("source")
        if source is None and name not in members:
            yield f"{name} in Cargo.lock has no source and is not a crate of this workspace"
        elif source not in (None, CRATES_IO):
            yield f"{name} in Cargo.lock comes from {source}, not from crates.io"
        elif source and "checksum" not in field:
            yield f"{name} in Cargo.lock has no checksum"


def allowed(crate, kind):
    """The crates of ours that `crate` may use: normally, in its build script, or in its tests."""
    if kind == "build":
        return {"hermes-build"}
    usual = MAY_USE.get(crate, CORE)
    return usual | {"hermes-testkit"} if kind == "dev" else usual


def broken_star(packages):
    """Dependencies between crates of ours that the star does not allow."""
    members = {package["name"] for package in packages}
    for package in packages:
        for dependency in package["dependencies"]:
            name, kind = dependency["name"], dependency["kind"] or "normal"
            if name in members and name not in allowed(package["name"], kind):
                yield f"{package['name']} must not depend on {name} ({kind} dependency)"


def opened_doors(packages):
    """Exemptions from the ban on doors in code of the pure crates that is not a test."""
    for package in packages:
        if package["name"] not in PURE:
            continue
        folder = pathlib.Path(package["manifest_path"]).parent
        for file in sorted(folder.glob("src/**/*.rs")):
            if file.stem.endswith("_tests") or "tests" in (file.stem, *file.relative_to(folder).parts):
                continue
            code = file.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
            if re.search(r"clippy::disallowed_(methods|types|macros)", code):
                yield f"{file.relative_to(folder.parent)}: {package['name']} is pure and may not lift the ban"


def main():
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = metadata["packages"]
    lock = pathlib.Path(metadata["workspace_root"], "Cargo.lock").read_text(encoding="utf-8")
    members = {package["name"] for package in packages}
    faults = [*foreign_packages(lock, members), *broken_star(packages), *opened_doors(packages)]
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if not faults:
        print(f"{len(members)} crates of ours, {lock.count('[[package]]')} packages in all: every rule holds")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
