//! Which parts of a source are compiled for tests only.
//!
//! A condition counts as one for tests when it cannot hold without `test`, whatever the system and the features are.

use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token};

/// Returns whether something with these attributes is compiled for tests only.
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        // `#[test]`, and what runtimes have instead, such as `#[tokio::test]`.
        Meta::Path(path) => path.segments.last().is_some_and(|segment| segment.ident == "test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            conditions(attribute).first().and_then(without_tests) == Some(false)
        }
        Meta::List(list) => {
            list.path.segments.len() > 1 && list.path.segments.last().is_some_and(|segment| segment.ident == "test")
        }
        Meta::NameValue(_) => false,
    })
}

/// Returns the attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn conditions(attribute: &Attribute) -> Vec<Meta> {
    let parsed = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    parsed.map(|list| list.into_iter().collect()).unwrap_or_default()
}

/// Returns whether a condition holds in a build without `test`; none where that depends on something else.
fn without_tests(condition: &Meta) -> Option<bool> {
    match condition {
        Meta::Path(path) => path.is_ident("test").then_some(false),
        Meta::NameValue(_) => None,
        Meta::List(list) => {
            let parsed = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            let parts: Vec<Option<bool>> = parsed.ok()?.iter().map(without_tests).collect();
            if list.path.is_ident("not") {
                return parts.first().copied().flatten().map(|holds| !holds);
            }
            // One part decides `all` when it is false, and `any` when it is true; else they take all parts.
            let decides = list.path.is_ident("any");
            if parts.contains(&Some(decides)) {
                return Some(decides);
            }
            parts.iter().all(Option::is_some).then_some(!decides)
        }
    }
}
