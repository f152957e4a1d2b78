//! The workspace as a table: each crate's layer and what it may use, and which packages from outside belong to whom.
//!
//! It says what is allowed, not what is there.

/// Where a crate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Shipped; arrows go to lower numbers.
    Number(u8),
    /// For development: may use everything, is used by nothing that ships.
    Dev,
}

/// The crate that every crate's tests may use.
pub const TESTKIT: &str = "magis-testkit";

/// Returns the layer of a crate of the workspace.
pub fn layer_of(name: &str) -> Option<Layer> {
    CRATES.iter().find(|place| place.name == name).map(|place| place.layer)
}

/// Returns the crates of lower layers that a crate may use.
pub fn may_use(name: &str) -> Option<&'static [&'static str]> {
    CRATES
        .iter()
        .find(|place| place.name == name)
        .map(|place| place.may_use)
}

struct Place {
    layer: Layer,
    name: &'static str,
    may_use: &'static [&'static str],
}

const fn place(layer: u8, name: &'static str, may_use: &'static [&'static str]) -> Place {
    Place {
        layer: Layer::Number(layer),
        name,
        may_use,
    }
}

const fn dev(name: &'static str) -> Place {
    Place {
        layer: Layer::Dev,
        name,
        may_use: &[],
    }
}

const CRATES: [Place; 22] = [
    place(0, "magis-core", &[]),
    place(0, "magis-platform", &[]),
    // Ships with the window as its first repository; tests and the demo use it too.
    place(0, "magis-sample", &[]),
    place(1, "magis-flow", &["magis-core"]),
    place(1, "magis-prompts", &["magis-core", "magis-platform"]),
    place(1, "magis-llm", &["magis-core"]),
    place(1, "magis-syntax", &["magis-core"]),
    place(1, "magis-sandbox", &["magis-core", "magis-platform"]),
    place(2, "magis-repo", &["magis-core", "magis-platform", "magis-sandbox"]),
    place(2, "magis-search", &["magis-core", "magis-platform", "magis-syntax"]),
    place(2, "magis-evidence", &["magis-core", "magis-syntax"]),
    place(2, "magis-models", &["magis-core", "magis-platform", "magis-llm"]),
    place(2, "magis-store", &["magis-core", "magis-platform"]),
    place(
        2,
        "magis-llama",
        &["magis-core", "magis-platform", "magis-llm", "magis-sandbox"],
    ),
    place(2, "magis-remote", &["magis-platform", "magis-llm"]),
    place(
        3,
        "magis-engine",
        &[
            "magis-core",
            "magis-platform",
            "magis-flow",
            "magis-prompts",
            "magis-llm",
            "magis-syntax",
            "magis-repo",
            "magis-search",
            "magis-evidence",
            "magis-sandbox",
            "magis-models",
            "magis-store",
            "magis-llama",
            "magis-remote",
        ],
    ),
    // Both programs speak of runs and issues in core's words.
    place(4, "magis-cli", &["magis-core", "magis-platform", "magis-engine"]),
    place(
        4,
        "magis-app",
        &["magis-core", "magis-platform", "magis-engine", "magis-sample"],
    ),
    dev(TESTKIT),
    dev("magis-eval"),
    dev("magis-fuzz"),
    dev("xtask"),
];

/// Packages from outside that belong to certain crates.
pub struct Outside {
    /// What the packages are, for the message.
    pub what: &'static str,
    /// Whom they are for, for the message.
    pub whose: &'static str,
    packages: &'static [&'static str],
    crates: &'static [&'static str],
}

impl Outside {
    /// Returns whether a package is one of these, or a part of one (`tauri` covers `tauri-build`).
    pub fn covers(&self, package: &str) -> bool {
        self.packages.iter().any(|name| {
            package
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
        })
    }

    /// Returns whether a crate of the workspace may depend on them.
    pub fn allows(&self, name: &str) -> bool {
        self.crates.contains(&name)
    }
}

/// Programs that speak over a network.
pub const NETWORK: Outside = Outside {
    what: "a network client",
    whose: "magis-models and magis-remote (and the measures of magis-eval)",
    packages: &[
        "ureq",
        "reqwest",
        "hyper",
        "curl",
        "attohttpc",
        "isahc",
        "minreq",
        "tonic",
        "h2",
        "tungstenite",
    ],
    crates: &["magis-models", "magis-remote", "magis-eval"],
};

/// All packages that belong to certain crates.
pub const OUTSIDE: [Outside; 11] = [
    NETWORK,
    Outside {
        what: "the window",
        whose: "magis-app",
        packages: &["tauri", "wry", "tao"],
        crates: &["magis-app"],
    },
    Outside {
        what: "llama.cpp",
        whose: "magis-llama",
        packages: &["llama-cpp-2", "llama-cpp-sys-2", "llama_cpp", "llguidance", "toktrie"],
        crates: &["magis-llama"],
    },
    Outside {
        what: "SQLite",
        whose: "magis-store",
        packages: &["rusqlite", "libsqlite3-sys", "sqlx", "diesel"],
        crates: &["magis-store"],
    },
    Outside {
        what: "git",
        whose: "magis-repo (and fixtures)",
        packages: &["git2", "libgit2-sys", "gix"],
        crates: &["magis-repo", TESTKIT],
    },
    Outside {
        what: "watching files",
        whose: "magis-repo",
        packages: &["notify"],
        crates: &["magis-repo"],
    },
    Outside {
        what: "tantivy",
        whose: "magis-search",
        packages: &["tantivy"],
        crates: &["magis-search"],
    },
    Outside {
        what: "tree-sitter",
        whose: "magis-syntax (and the mutations of magis-eval)",
        packages: &["tree-sitter"],
        crates: &["magis-syntax", "magis-eval"],
    },
    Outside {
        what: "templates",
        whose: "magis-prompts and the chat templates of magis-llm",
        packages: &["minijinja", "askama"],
        crates: &["magis-prompts", "magis-llm"],
    },
    Outside {
        what: "an async runtime",
        whose: "magis-llama, magis-remote, magis-sandbox and the layers from 3 up",
        packages: &["tokio", "async-std"],
        crates: &[
            "magis-llama",
            "magis-remote",
            "magis-sandbox",
            "magis-engine",
            "magis-cli",
            "magis-app",
            "magis-eval",
            TESTKIT,
        ],
    },
    Outside {
        what: "the terminal",
        whose: "magis-cli and development",
        packages: &["clap", "indicatif", "crossterm", "ratatui", "dialoguer", "console"],
        crates: &["magis-cli", "magis-eval", "magis-fuzz", "xtask"],
    },
];
