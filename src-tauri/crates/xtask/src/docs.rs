//! `cargo xtask docs`: public items of a library without documentation, and documentation that says nothing.
//!
//! At the border of a crate every public function, type, trait and constant is documented. Fields, variants and what is
//! inside a crate need no comment where the name says it all; so a comment of three words is either worth more words or
//! worth none. A unit, a number or a piece of code may be all that there is to say.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprLit, Field, Ident, ImplItem, ImplItemFn, Item, ItemImpl, Lit, Meta, TraitItemFn, Type,
    Variant, Visibility,
};

use crate::sources::{self, Target, attributes};
use crate::{cargo, names};

/// The most words of a comment that only repeats the name of what it stands at.
const TOO_FEW_WORDS: usize = 3;

/// Words that say what a number counts.
const UNITS: [&str; 13] = [
    "bytes",
    "characters",
    "hex",
    "hexadecimal",
    "lines",
    "microseconds",
    "milliseconds",
    "nats",
    "percent",
    "pixels",
    "seconds",
    "tokens",
    "utc",
];

/// Documentation that is missing, or that says too little.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lack {
    /// The file, below the checkout.
    pub file: PathBuf,
    /// The line of the item.
    pub line: usize,
    /// The comment, none where there is none.
    pub comment: Option<String>,
}

impl fmt::Display for Lack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}  ", self.file.display(), self.line)?;
        match &self.comment {
            Some(comment) => write!(formatter, "says only {comment:?}: say more, or nothing"),
            None => write!(formatter, "is public and not documented"),
        }
    }
}

/// Prints the documentation that is missing or says too little.
///
/// # Errors
/// When cargo's metadata cannot be had, or a source cannot be read.
pub fn run() -> Result<ExitCode> {
    match check()? {
        Ok(remark) => {
            println!("{remark}");
            Ok(ExitCode::SUCCESS)
        }
        Err(lacks) => {
            for lack in &lacks {
                eprintln!("{lack}");
            }
            eprintln!("{} comments to write, or to remove", lacks.len());
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Reads the workspace and judges: a remark when everything is documented, else a text for each lack.
///
/// # Errors
/// When cargo's metadata cannot be had, or a source cannot be read.
pub fn check() -> Result<Result<String, Vec<String>>> {
    let targets = sources::of_workspace(&cargo::metadata()?)?;
    let found = lacks(&targets);
    if found.is_empty() {
        let libraries = targets.iter().filter(|target| is_library(target)).count();
        return Ok(Ok(format!("{libraries} libraries, every public item documented")));
    }
    Ok(Err(found.iter().map(ToString::to_string).collect()))
}

/// Returns what is lacking, by file and line.
pub fn lacks(targets: &[Target]) -> BTreeSet<Lack> {
    let mut lacks = BTreeSet::new();
    for target in targets {
        let public = public_types(target);
        for module in &target.modules {
            let lack = |(line, comment)| Lack {
                file: module.file.clone(),
                line,
                comment,
            };
            let mut reader = Reader::default();
            for item in &module.items {
                reader.visit_item(item);
            }
            lacks.extend(
                reader
                    .too_short
                    .into_iter()
                    .map(|(line, comment)| lack((line, Some(comment)))),
            );
            if is_library(target) {
                let lines = module.items.iter().flat_map(|item| undocumented(item, &public));
                lacks.extend(lines.map(|line| lack((line, None))));
            }
        }
    }
    lacks
}

/// Returns whether a target is a library: what it declares public is its crate's border.
fn is_library(target: &Target) -> bool {
    let root = target.modules.first();
    root.is_some_and(|root| root.file.ends_with("lib.rs"))
}

/// Returns the names of the types that a target declares public.
fn public_types(target: &Target) -> BTreeSet<String> {
    let items = target.modules.iter().flat_map(|module| &module.items);
    items.filter_map(names::public_type).map(ToString::to_string).collect()
}

/// Returns the lines of what an item declares public without documentation: itself, or the functions of one of the
/// `public` types.
fn undocumented(item: &Item, public: &BTreeSet<String>) -> Vec<usize> {
    if let Some((visibility, name)) = declared(item) {
        let lacking = lacks_comment(visibility, attributes(item));
        return lacking.then(|| line(name.span())).into_iter().collect();
    }
    let Item::Impl(item) = item else { return Vec::new() };
    if item.trait_.is_some() || !type_name(item).is_some_and(|name| public.contains(&name)) {
        return Vec::new();
    }
    let functions = item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(function) => Some((&function.vis, &function.sig.ident, function.attrs.as_slice())),
        ImplItem::Const(constant) => Some((&constant.vis, &constant.ident, constant.attrs.as_slice())),
        _ => None,
    });
    let lacking = functions.filter(|(visibility, _, attributes)| lacks_comment(visibility, attributes));
    lacking.map(|(_, name, _)| line(name.span())).collect()
}

/// Returns what an item declares under a name, and who may see it; none for what has no name or needs no comment.
fn declared(item: &Item) -> Option<(&Visibility, &Ident)> {
    match item {
        Item::Const(item) => Some((&item.vis, &item.ident)),
        Item::Enum(item) => Some((&item.vis, &item.ident)),
        Item::Fn(item) => Some((&item.vis, &item.sig.ident)),
        Item::Static(item) => Some((&item.vis, &item.ident)),
        Item::Struct(item) => Some((&item.vis, &item.ident)),
        Item::Trait(item) => Some((&item.vis, &item.ident)),
        Item::Type(item) => Some((&item.vis, &item.ident)),
        _ => None,
    }
}

/// Returns the name of the type that functions belong to.
fn type_name(item: &ItemImpl) -> Option<String> {
    match &*item.self_ty {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

fn lacks_comment(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && comment(attributes).is_none()
}

/// Collects comments that are too short to say anything.
#[derive(Default)]
struct Reader {
    too_short: Vec<(usize, String)>,
}

impl Reader {
    fn read(&mut self, attributes: &[Attribute], name: Span) {
        if let Some(comment) = comment(attributes).filter(|comment| says_nothing(comment)) {
            self.too_short.push((line(name), comment));
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        // There the comments are the help that a person reads in the terminal.
        if attributes(item).iter().any(derives_arguments) {
            return;
        }
        if let Some((_, name)) = declared(item) {
            self.read(attributes(item), name.span());
        }
        visit::visit_item(self, item);
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if let Some(name) = &field.ident {
            self.read(&field.attrs, name.span());
        }
        visit::visit_field(self, field);
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        self.read(&variant.attrs, variant.ident.span());
        visit::visit_variant(self, variant);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.read(&function.attrs, function.sig.ident.span());
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        self.read(&function.attrs, function.sig.ident.span());
        visit::visit_trait_item_fn(self, function);
    }
}

/// Returns the documentation in front of something, none where there is none.
fn comment(attributes: &[Attribute]) -> Option<String> {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text), ..
            }) => Some(text.value().trim().to_owned()),
            // An included file, or what a macro is given.
            _ => Some("see there for what it is".to_owned()),
        },
        _ => None,
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn says_nothing(comment: &str) -> bool {
    let words: Vec<String> = comment
        .split_whitespace()
        .map(|word| {
            word.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '`')
                .to_lowercase()
        })
        .collect();
    let says = |word: &String| {
        UNITS.contains(&word.as_str()) || word.contains(|sign: char| sign == '`' || sign.is_ascii_digit())
    };
    words.len() <= TOO_FEW_WORDS && !words.iter().any(says)
}

/// Returns whether an attribute derives what clap reads a command line with.
fn derives_arguments(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else {
        return false;
    };
    let derived = list.tokens.to_string();
    list.path.is_ident("derive")
        && ["Args", "Parser", "Subcommand", "ValueEnum"].iter().any(|name| {
            derived
                .split(|sign: char| !sign.is_alphanumeric())
                .any(|word| word == *name)
        })
}

fn line(span: Span) -> usize {
    span.start().line
}

#[cfg(test)]
mod tests;
