//! The paths and imports that stand in a module.
//!
//! It does not say where they lead.

use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Meta, QSelf, Stmt, UseTree, Visibility};

use super::tokens::{self, Written, names, plain};
use super::written::{ImportedName, Namespace, PathUse};
use crate::sources::{attributes, is_for_tests};

/// What stands in a module.
#[derive(Debug, Default)]
pub struct Found {
    /// Every path, imports included.
    pub mentions: Vec<PathUse>,
    /// Every import, those of its functions included.
    pub imports: Vec<ImportedName>,
    /// The lines of modules inside functions.
    pub nested_modules: Vec<usize>,
}

/// Looks through the items of a module.
pub fn of(items: &[Item]) -> Found {
    let mut found = Found::default();
    for item in items {
        found.visit_item(item);
    }
    found
}

impl Found {
    fn mention(&mut self, qualified: Option<&QSelf>, path: &syn::Path, kind: Namespace) {
        // What follows `::` is in another crate, and what follows `<T>::` in the type.
        if path.leading_colon.is_none() {
            let line = path.segments.first().map_or(0, |first| line(first.ident.span()));
            self.mentions.push(PathUse {
                segments: names(path),
                kind: Some(kind),
                line,
            });
        }
        if let Some(before) = qualified {
            self.visit_type(&before.ty);
        }
        visit::visit_path(self, path);
    }

    fn written(&mut self, written: Vec<Written>) {
        let mentions = written.into_iter().map(|(segments, line)| PathUse {
            segments,
            kind: None,
            line,
        });
        self.mentions.extend(mentions);
    }

    /// Takes in what is at and below a part of a `use`, whose names so far are `before`.
    fn import(&mut self, before: &[String], tree: &UseTree, is_private: bool) {
        let (last, name) = match tree {
            UseTree::Path(path) => {
                let before: Vec<String> = before.iter().cloned().chain([plain(&path.ident)]).collect();
                return self.import(&before, &path.tree, is_private);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(before, tree, is_private);
                }
                return;
            }
            UseTree::Name(name) => (Some(&name.ident), Some(&name.ident)),
            UseTree::Rename(rename) => (Some(&rename.ident), Some(&rename.rename)),
            UseTree::Glob(_) => (None, None),
        };
        // `a::{self}` is the module `a`, and not a function of that name.
        let is_itself = last.is_some_and(|last| last == "self") && !before.is_empty();
        let segments: Vec<String> = before
            .iter()
            .cloned()
            .chain(last.filter(|_| !is_itself).map(plain))
            .collect();
        let name = match name.map(plain) {
            Some(name) if name == "self" => segments.last().cloned(),
            name => name,
        };
        self.mentions.push(PathUse {
            segments: segments.clone(),
            kind: (is_itself || last.is_none()).then_some(Namespace::Type),
            line: line(first_span(tree)),
        });
        self.imports.push(ImportedName {
            segments,
            name,
            is_private,
        });
    }
}

fn line(span: Span) -> usize {
    span.start().line
}

fn first_span(tree: &UseTree) -> Span {
    match tree {
        UseTree::Path(path) => path.ident.span(),
        UseTree::Name(name) => name.ident.span(),
        UseTree::Rename(rename) => rename.ident.span(),
        UseTree::Glob(glob) => glob.star_token.span,
        UseTree::Group(group) => group.brace_token.span.open(),
    }
}

/// Returns the attributes of an expression that can be a statement.
fn of_statement(expression: &Expr) -> &[Attribute] {
    match expression {
        Expr::Block(expression) => &expression.attrs,
        Expr::Call(expression) => &expression.attrs,
        Expr::ForLoop(expression) => &expression.attrs,
        Expr::If(expression) => &expression.attrs,
        Expr::Loop(expression) => &expression.attrs,
        Expr::Macro(expression) => &expression.attrs,
        Expr::Match(expression) => &expression.attrs,
        Expr::MethodCall(expression) => &expression.attrs,
        Expr::Return(expression) => &expression.attrs,
        Expr::Unsafe(expression) => &expression.attrs,
        Expr::While(expression) => &expression.attrs,
        _ => &[],
    }
}

/// Visits of parts that may be for tests only, and then are passed over.
macro_rules! unless_for_tests {
    ($($visit:ident($part:ident: $kind:ty) $attributes:expr;)+) => {
        $(fn $visit(&mut self, $part: &$kind) {
            if !is_for_tests($attributes) {
                visit::$visit(self, $part);
            }
        })+
    };
}

impl Visit<'_> for Found {
    unless_for_tests! {
        visit_item(item: Item) attributes(item);
        visit_field(field: syn::Field) &field.attrs;
        visit_field_value(field: syn::FieldValue) &field.attrs;
        visit_variant(variant: syn::Variant) &variant.attrs;
        visit_arm(arm: syn::Arm) &arm.attrs;
        visit_local(local: syn::Local) &local.attrs;
        visit_stmt_macro(call: syn::StmtMacro) &call.attrs;
        visit_impl_item_fn(item: syn::ImplItemFn) &item.attrs;
        visit_impl_item_const(item: syn::ImplItemConst) &item.attrs;
        visit_impl_item_type(item: syn::ImplItemType) &item.attrs;
        visit_trait_item_fn(item: syn::TraitItemFn) &item.attrs;
        visit_trait_item_const(item: syn::TraitItemConst) &item.attrs;
        visit_trait_item_type(item: syn::TraitItemType) &item.attrs;
    }

    fn visit_stmt(&mut self, statement: &Stmt) {
        if !matches!(statement, Stmt::Expr(expression, _) if is_for_tests(of_statement(expression))) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_item_mod(&mut self, module: &syn::ItemMod) {
        self.nested_modules.push(line(module.ident.span()));
    }

    fn visit_item_use(&mut self, import: &syn::ItemUse) {
        if import.leading_colon.is_none() {
            self.import(&[], &import.tree, matches!(import.vis, Visibility::Inherited));
        }
    }

    fn visit_visibility(&mut self, _: &Visibility) {
        // `pub(in crate::x)` uses nothing.
    }

    fn visit_attribute(&mut self, attribute: &Attribute) {
        match &attribute.meta {
            Meta::NameValue(pair) if !pair.path.is_ident("doc") => self.visit_expr(&pair.value),
            Meta::List(list) if !list.path.is_ident("doc") => {
                self.written(tokens::paths(list.tokens.clone()));
                self.written(tokens::quoted_paths(list.tokens.clone()));
            }
            Meta::NameValue(_) | Meta::List(_) | Meta::Path(_) => {}
        }
        self.mention(None, attribute.path(), Namespace::Macro);
    }

    fn visit_macro(&mut self, call: &syn::Macro) {
        self.mention(None, &call.path, Namespace::Macro);
        self.written(tokens::paths(call.tokens.clone()));
    }

    fn visit_token_stream(&mut self, stream: &proc_macro2::TokenStream) {
        self.written(tokens::paths(stream.clone()));
    }

    fn visit_expr_path(&mut self, expression: &syn::ExprPath) {
        self.mention(expression.qself.as_ref(), &expression.path, Namespace::Value);
    }

    fn visit_type_path(&mut self, path: &syn::TypePath) {
        self.mention(path.qself.as_ref(), &path.path, Namespace::Type);
    }

    fn visit_pat_tuple_struct(&mut self, pattern: &syn::PatTupleStruct) {
        self.mention(pattern.qself.as_ref(), &pattern.path, Namespace::Value);
        for inner in &pattern.elems {
            self.visit_pat(inner);
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        self.mention(None, path, Namespace::Type);
    }
}
