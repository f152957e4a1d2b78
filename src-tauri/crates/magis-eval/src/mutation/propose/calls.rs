//! Calls: arguments in another order, calls left out, related methods.

use super::super::grammar::{parts, text_of, whole_lines};
use super::super::kind::MutationKind;
use super::Site;
use tree_sitter::Node;

/// Methods and functions that are mistaken for each other.
const RELATED: [(&str, &str); 34] = [
    ("lstrip", "rstrip"),
    ("startswith", "endswith"),
    ("find", "rfind"),
    ("index", "rindex"),
    ("split", "rsplit"),
    ("partition", "rpartition"),
    ("lower", "upper"),
    ("min", "max"),
    ("any", "all"),
    ("append", "extend"),
    ("appendleft", "append"),
    ("popleft", "pop"),
    ("keys", "values"),
    ("ljust", "rjust"),
    ("floor", "ceil"),
    ("union", "intersection"),
    ("match", "search"),
    ("bisect_left", "bisect_right"),
    ("startsWith", "endsWith"),
    ("indexOf", "lastIndexOf"),
    ("toLowerCase", "toUpperCase"),
    ("push", "unshift"),
    ("shift", "pop"),
    ("some", "every"),
    ("trimStart", "trimEnd"),
    ("padStart", "padEnd"),
    ("starts_with", "ends_with"),
    ("trim_start", "trim_end"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("is_lowercase", "is_uppercase"),
    ("to_lowercase", "to_uppercase"),
    ("push_back", "push_front"),
    ("first", "last"),
];

/// Functions without which nothing works, or which nobody forgets or confuses.
const PLAIN: [&str; 24] = [
    "len",
    "range",
    "iter",
    "type",
    "super",
    "print",
    "isinstance",
    "issubclass",
    "getattr",
    "setattr",
    "hasattr",
    "callable",
    "next",
    "Some",
    "Ok",
    "Err",
    "Box::new",
    "require",
    "new",
    "Error",
    "clone",
    "unwrap",
    "as_ref",
    "iter_mut",
];

pub(super) fn at(node: Node<'_>, site: &mut Site<'_>) {
    if !matches!(node.kind(), "call" | "call_expression") {
        return;
    }
    let (Some(function), Some(list)) = (
        node.child_by_field_name("function"),
        node.child_by_field_name("arguments"),
    ) else {
        return;
    };
    let name = text_of(site.text, function);
    let last = name.rsplit(['.', ':']).next().unwrap_or(name).to_owned();
    if !matches!(list.kind(), "argument_list" | "arguments") {
        return;
    }
    related(function, &last, site);
    if PLAIN.contains(&last.as_str()) || last.ends_with("Error") || last.starts_with(char::is_uppercase) {
        return;
    }
    let arguments = parts(list);
    let plain = |node: &Node<'_>| {
        !matches!(
            node.kind(),
            "keyword_argument"
                | "list_splat"
                | "dictionary_splat"
                | "spread_element"
                | "generator_expression"
                | "closure_expression"
                | "arrow_function"
        )
    };
    for pair in arguments
        .windows(2)
        .filter(|pair| pair.iter().all(plain) && arguments.len() <= 4)
    {
        let (first, second) = (text_of(site.text, pair[0]), text_of(site.text, pair[1]));
        let between = site.text.get(pair[0].end_byte()..pair[1].start_byte()).unwrap_or(", ");
        let swapped = format!("{second}{between}{first}");
        site.add(
            MutationKind::ArgumentOrder,
            pair[0].start_byte()..pair[1].end_byte(),
            swapped,
        );
    }
    missing(node, function, &arguments, site);
}

fn missing(node: Node<'_>, function: Node<'_>, arguments: &[Node<'_>], site: &mut Site<'_>) {
    let statement = node.parent().filter(|parent| parent.kind() == "expression_statement");
    if let Some(statement) = statement {
        let siblings = statement.parent().map_or(0, |block| parts(block).len());
        let lines = whole_lines(site.text, statement).filter(|_| siblings > 1);
        if let Some(lines) = lines {
            site.add(MutationKind::MissingCall, lines, "");
        }
        return;
    }
    let receiver = ["object", "value"]
        .iter()
        .find_map(|field| function.child_by_field_name(field));
    match (receiver, arguments) {
        (Some(receiver), []) if !matches!(text_of(site.text, receiver), "self" | "cls" | "this") => {
            site.add(
                MutationKind::MissingCall,
                node.byte_range(),
                text_of(site.text, receiver).to_owned(),
            );
        }
        (_, [only])
            if function.kind() == "identifier"
                && !only.kind().contains("splat")
                && only.kind() != "keyword_argument" =>
        {
            let inner = text_of(site.text, *only).to_owned();
            // What a call keeps together needs parentheses of its own.
            let inner = if matches!(
                only.kind(),
                "identifier" | "attribute" | "call" | "string" | "subscript" | "member_expression" | "call_expression"
            ) {
                inner
            } else {
                format!("({inner})")
            };
            site.add(MutationKind::MissingCall, node.byte_range(), inner);
        }
        _ => {}
    }
}

fn related(function: Node<'_>, last: &str, site: &mut Site<'_>) {
    let other = RELATED.iter().find_map(|(one, other)| match last {
        name if name == *one => Some(*other),
        name if name == *other => Some(*one),
        _ => None,
    });
    if let Some(other) = other {
        let end = function.end_byte();
        site.add(MutationKind::WrongMethod, end - last.len()..end, other);
    }
}
