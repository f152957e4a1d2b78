//! Fixture repositories built by code, with fixed dates and identities.
