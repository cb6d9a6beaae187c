//! Packages that are named by address, or come from an index that is nobody's catalogue.

use crate::effect::Kind;
use crate::walk::{Call, Walk};

/// Packages named by address: what they hold is nobody's catalogue, and it runs while it installs.
pub(super) fn fetched(walk: &mut Walk<'_>, call: Call<'_>) {
    let mut value = false;
    let mut installs = false;
    if super::verbs::only_shows(call.args) {
        return;
    }
    elsewhere(walk, call);
    let mut runner = matches!(call.name, "npx" | "bunx" | "pnpx" | "uvx");
    for arg in call.args {
        let text = &*arg.text;
        if std::mem::take(&mut value) {
            continue;
        }
        if text == "-i" && matches!(call.name, "pip" | "pip3" | "uv") {
            value = true;
            continue;
        }
        if matches!(text, "source" | "repository" | "repo") {
            // An entry in a list of indexes, not a package.
            return;
        }
        if text.starts_with('-')
            && !matches!(text, "--from" | "--spec" | "--git" | "--url" | "-r" | "-i" | "-U" | "-Uvh" | "-ivh")
        {
            value = INDEXES.contains(&text);
            continue;
        }
        installs |= matches!(
            text,
            "install"
                | "i"
                | "add"
                | "in"
                | "run"
                | "-i"
                | "-U"
                | "-Uvh"
                | "-ivh"
                | "--from"
                | "--spec"
                | "--git"
                | "exec"
                | "dlx"
                | "shell"
                | "profile"
                | "localinstall"
                | "upgrade"
                | "global"
        ) || matches!(call.name, "npx" | "bunx" | "pnpx" | "uvx" | "easy_install");
        if installs && by_address(call.name, text) {
            walk.emit_names(Kind::RunDownloaded, "installs a package from an address", arg.span, &[text]);
            return;
        }
        if runner && !text.starts_with('-') {
            // The words after the package belong to it.
            return;
        }
        runner |= text == "dlx" || text == "exec" || text == "create";
    }
}

/// Options whose value is the address of an index, not of a package.
const INDEXES: [&str; 14] = [
    "--index-url",
    "--extra-index-url",
    "--find-links",
    "-f",
    "--registry",
    "--trusted-host",
    "--index",
    "--repo",
    "--repository",
    "--source",
    "--proxy",
    "--default-index",
    "--constraint",
    "-c",
];

/// Where most packages come from, and the hosts that keep indexes for companies.
const KNOWN_INDEXES: [&str; 23] = [
    "pypi.org",
    "pythonhosted.org",
    "pytorch.org",
    "nvidia.com",
    "anaconda.org",
    "npmjs.org",
    "npmjs.com",
    "yarnpkg.com",
    "npmmirror.com",
    "jsr.io",
    "github.com",
    "gitlab.com",
    "pkg.dev",
    "azure.com",
    "amazonaws.com",
    "jfrog.io",
    "cloudsmith.io",
    "fury.io",
    "rubygems.org",
    "crates.io",
    "tsinghua.edu.cn",
    "aliyun.com",
    "localhost",
];

/// An index that is none of the well-known ones: whoever runs it chooses what is installed.
fn elsewhere(walk: &mut Walk<'_>, call: Call<'_>) {
    const OPTIONS: [&str; 10] = [
        "--index-url",
        "--extra-index-url",
        "-i",
        "--find-links",
        "--registry",
        "--index",
        "--default-index",
        "--source",
        "-s",
        "--clear-sources",
    ];
    for (at, arg) in call.args.iter().enumerate() {
        let (option, glued) = arg.text.split_once('=').map_or((&*arg.text, None), |(o, v)| (o, Some(v)));
        let next = call.args.get(at + 1).map(|next| &*next.text);
        let Some(address) = glued.or(next).filter(|_| OPTIONS.contains(&option)) else { continue };
        let Some((scheme, rest)) = address.split_once("://") else { continue };
        let host = rest.split(['/', ':', '?']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or(host);
        let known = host.starts_with("127.")
            || KNOWN_INDEXES.iter().any(|known| {
                host.strip_suffix(known).is_some_and(|before| before.is_empty() || before.ends_with('.'))
            });
        let bare = host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        // A company's own index is everyday; one beside the usual one, or an unsafe one, is not.
        if !known && (scheme == "http" || bare || option == "--extra-index-url") {
            walk.emit_names(
                Kind::RunDownloaded,
                "installs packages from an index of somebody's own",
                arg.span,
                &[address],
            );
        }
    }
}

/// Whether a word names a package by address rather than by name.
fn by_address(manager: &str, word: &str) -> bool {
    let forge = ["github:", "gitlab:", "bitbucket:", "gist:"].iter().any(|forge| word.starts_with(forge));
    let short = matches!(manager, "npm" | "pnpm" | "yarn" | "npx" | "pnpx" | "bunx" | "bun")
        && !word.starts_with(['@', '.', '/', '~', '-'])
        && word.split('/').count() == 2
        && !word.contains([':', '*', '='])
        && word.split('/').all(|part| !part.is_empty());
    (word.contains("://") && !word.starts_with("file:") && !word.starts_with("oci:"))
        || word.starts_with("git@")
        || word.contains("git+")
        || forge
        || short
}

/// Whether a Go package is fetched from elsewhere and is none of the usual tools.
pub(super) fn strange_module(package: &str) -> bool {
    const USUAL: [&str; 26] = [
        "golang.org/",
        "google.golang.org/",
        "honnef.co/",
        "mvdan.cc/",
        "gotest.tools/",
        "k8s.io/",
        "sigs.k8s.io/",
        "entgo.io/",
        "go.uber.org/",
        "gorm.io/",
        "github.com/golang",
        "github.com/google/",
        "github.com/golangci/",
        "github.com/securego/",
        "github.com/swaggo/",
        "github.com/a-h/templ",
        "github.com/air-verse/",
        "github.com/cosmtrek/air",
        "github.com/sqlc-dev/",
        "github.com/pressly/goose",
        "github.com/99designs/",
        "github.com/vektra/mockery",
        "github.com/onsi/ginkgo",
        "github.com/bufbuild/",
        "github.com/goreleaser/",
        "github.com/oapi-codegen/",
    ];
    package.contains('@')
        && package.split('/').next().is_some_and(|host| host.contains('.') && !host.starts_with('.'))
        && !USUAL.iter().any(|usual| package.starts_with(usual))
}
