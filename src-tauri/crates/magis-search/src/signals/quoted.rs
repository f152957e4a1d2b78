//! Paths and file names that the issue quotes.

use super::{Found, SignalInput, named};
use crate::matching::path_match;

pub(crate) fn find<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    named(reading, &reading.query.paths, |mention| {
        move |path| path_match(mention, path)
    })
}
