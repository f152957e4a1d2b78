//! `magis engine`, and the options that name another engine for one command.

use clap::{Args, Subcommand};
use magis_engine::OtherEngine;
use std::path::PathBuf;

/// Another engine, for this command alone.
#[derive(Debug, Clone, Args)]
pub struct OtherEngineArgs {
    /// Ask the models of this server instead of our own engine, as in `http://gpu.lan:8000`; in your own network only
    #[arg(long, global = true, value_name = "URL")]
    pub engine: Option<String>,
    /// The model of that server [default: the only one it has]
    #[arg(long, global = true, value_name = "NAME", requires = "engine")]
    pub engine_model: Option<String>,
    /// The context of that model in tokens, where the server does not say it
    #[arg(long, global = true, value_name = "N", requires = "engine", value_parser = clap::value_parser!(u32).range(1024..))]
    pub engine_context: Option<u32>,
    /// The certificate authority of that server, a PEM file [default: the system's]
    #[arg(long, global = true, value_name = "FILE", requires = "engine")]
    pub engine_ca: Option<PathBuf>,
}

impl OtherEngineArgs {
    /// Returns the engine that is named, if one is.
    pub fn named(&self) -> Option<OtherEngine> {
        Some(OtherEngine {
            address: self.engine.clone()?,
            model: self.engine_model.clone(),
            context: self.engine_context,
            authorities: self.engine_ca.clone(),
        })
    }
}

/// `magis engine`.
#[derive(Debug, Subcommand)]
pub enum EngineCommand {
    /// Say where prompts go, and what the engine there can do
    Show,
    /// Send prompts to the server that --engine names, from now on
    Use,
    /// Send prompts nowhere: use our own engine
    Off,
    /// Keep the key of the server that --engine names in the system's keyring; it is read from standard input
    Key,
    /// Remove the key of the server that --engine names from the system's keyring
    ForgetKey,
}
