//! Runs commands that strangers wrote: without a network, with nothing of the person's to read, within limits.
