//! `cargo xtask`: sets a machine up, shows the program at work (`demo`), and holds every check of the project (`test`, `layers`,
//! `names`, `docs`).
//!
//! It needs nothing but Rust to compile, because it is what installs the rest. It is no part of what is shipped, and solves nothing itself: the demo
//! starts `magis` as a person would.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use bundle::Build;
use clap::{Args, Parser, Subcommand};
use setup::SetupPurpose;

mod bundle;
mod bundled;
mod cargo;
mod catalog;
mod checks;
mod demo;
mod desktop;
mod docs;
mod folders;
mod fuzz;
mod layers;
mod names;
mod network;
mod screenshots;
mod setup;
mod sources;
mod step;
mod tools;
mod window;

/// Set-up, demo and checks of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Open the window with a built-in sample repository and its issue, ready to be solved; without a display, or with
    /// --headless, solve it in the terminal with the default model, and run the sample's tests before and after.
    Demo(DemoArguments),
    /// Build the window and open it on your own data.
    App(AppArguments),
    /// Run every check and test of the project, with the small test model.
    Test(SetupArguments),
    /// Take pictures of every screen, in both themes, both languages and two sizes, into target/screenshots.
    Screenshots(ScreenshotArguments),
    /// Make the packages, .deb and .rpm, with the licences of everything inside, into target/bundle.
    Bundle(BundleArguments),
    /// Try mutated repositories, patches, archives, model files, answers of workers, issues and source texts, and print a table; fails on a finding.
    Fuzz(FuzzArguments),
    /// Hold the rules between the crates against `cargo metadata`, and look for import cycles between their modules.
    Layers,
    /// List public types of one name in two crates.
    Names,
    /// List public items without documentation, and comments that say nothing.
    Docs,
}

#[derive(Debug, Args)]
struct SetupArguments {
    /// Install missing system packages without asking.
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
struct DemoArguments {
    #[command(flatten)]
    setup: SetupArguments,
    /// Stay in the terminal, and run the sample's tests before and after.
    #[arg(long)]
    headless: bool,
    /// Which of the sample's issues to solve.
    #[arg(long, value_name = "NAME", default_value = magis_sample::EMPTY_REPORT.name, value_parser = magis_sample::ISSUES.map(|issue| issue.name))]
    issue: String,
    /// The model, by its name in the catalogue.
    #[arg(long, value_name = "ID", default_value = demo::DEFAULT_MODEL)]
    model: String,
    /// The number that fixes the model's dice.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct AppArguments {
    #[command(flatten)]
    setup: SetupArguments,
    /// What the window's program is given, after `--`.
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
struct ScreenshotArguments {
    #[command(flatten)]
    setup: SetupArguments,
    /// Only the screens that have this in their name.
    #[arg(default_value = "", hide_default_value = true, value_name = "PART")]
    part: String,
}

#[derive(Debug, Args)]
struct BundleArguments {
    #[command(flatten)]
    setup: SetupArguments,
    /// Package the programs as the tests build them: to look at the packaging, not to hand on.
    #[arg(long)]
    dev: bool,
    /// Then install the .deb into an empty root and run the tests of the real window on it (on Debian, as root).
    #[arg(long = "try")]
    trial: bool,
}

#[derive(Debug, Args)]
struct FuzzArguments {
    /// How long it takes, without the build.
    #[arg(long, value_name = "N", default_value_t = 10)]
    minutes: u64,
    /// One target alone; a wrong name lists them.
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// The same seed begins with the same inputs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Build the parts in C so that their memory is watched (`AddressSanitizer`), and try what they read.
    #[arg(long)]
    sanitize: bool,
}

fn main() -> ExitCode {
    match perform(Arguments::parse().task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(task: Task) -> Result<ExitCode> {
    match task {
        Task::Demo(arguments) => demonstrate(&arguments),
        Task::App(arguments) => {
            setup::prepare(SetupPurpose::Window, consent(&arguments.setup))?;
            window::open(&arguments.arguments)
        }
        Task::Test(arguments) => {
            setup::prepare(SetupPurpose::WindowTests, consent(&arguments))?;
            Ok(checks::run())
        }
        Task::Screenshots(arguments) => {
            setup::prepare(SetupPurpose::WindowTests, consent(&arguments.setup))?;
            screenshots::take(&arguments.part)?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Bundle(arguments) => {
            let purpose = match arguments {
                BundleArguments { trial: true, .. } => SetupPurpose::PackageTests,
                BundleArguments { dev: true, .. } => SetupPurpose::Window,
                BundleArguments { .. } => SetupPurpose::Packages,
            };
            setup::prepare(purpose, consent(&arguments.setup))?;
            let build = if arguments.dev { Build::Dev } else { Build::Portable };
            let packages = bundle::make(build)?;
            if arguments.trial {
                bundle::trial::run(&packages.deb)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Layers => layers::run(),
        Task::Names => names::run(),
        Task::Docs => docs::run(),
    }
}

fn demonstrate(arguments: &DemoArguments) -> Result<ExitCode> {
    let issue = magis_sample::ISSUES
        .into_iter()
        .find(|issue| issue.name == arguments.issue)
        .unwrap_or(magis_sample::EMPTY_REPORT);
    let demo = demo::Demo {
        issue,
        model: arguments.model.clone(),
        seed: arguments.seed,
    };
    if arguments.headless || !window::has_display() {
        setup::prepare(SetupPurpose::Headless, consent(&arguments.setup))?;
        if !arguments.headless {
            println!("There is no display: the demo stays in the terminal.");
        }
        return demo::run(&demo);
    }
    setup::prepare(SetupPurpose::Window, consent(&arguments.setup))?;
    window::open(&demo::window_arguments(&demo)?)
}

fn consent(arguments: &SetupArguments) -> setup::Consent {
    if arguments.yes {
        setup::Consent::Given
    } else {
        setup::Consent::Ask
    }
}
