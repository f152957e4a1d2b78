//! Dotted module names of the issue, as files.

use super::{Found, SignalInput, named};
use crate::matching::module_match;

pub(crate) fn find<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    named(reading, &reading.query.modules, |mention| {
        let dotted: Vec<&str> = mention.split('.').collect();
        move |path| module_match(&dotted, path)
    })
}
