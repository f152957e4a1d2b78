//! Checks made out of an issue's text: what to run, and what the outputs say.
