//! XML as a flat sequence of pieces, for reports that strangers' code wrote.
//!
//! Entities that a document declares are never expanded, and how deeply elements lie within each other is bounded.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};
use std::collections::BTreeMap;

/// How many elements may lie within each other.
const MAX_DEPTH: usize = 128;
/// How many attributes of an element are read.
const MAX_ATTRIBUTES: usize = 64;

/// One piece of a document.
pub(super) enum Piece {
    Open(Element),
    Text(String),
    /// The name of the element that ends here.
    Close(String),
    /// The document ends, with every element closed.
    End,
}

/// The head of an element.
pub(super) struct Element {
    pub(super) name: String,
    attributes: BTreeMap<String, String>,
}

/// A document that is being read.
pub(super) struct Document<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
}

impl<'a> Document<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, depth: 0 }
    }

    /// Returns the next piece, or what is wrong with the document here.
    pub(super) fn next(&mut self) -> Result<Piece, String> {
        loop {
            let event = self.reader.read_event().map_err(|error| error.to_string())?;
            return Ok(match event {
                Event::Start(start) | Event::Empty(start) => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err(format!("more than {MAX_DEPTH} elements lie within each other"));
                    }
                    Piece::Open(Element::of(&start))
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    Piece::Close(local(end.name().as_ref()).to_owned())
                }
                Event::Text(text) => Piece::Text(text.xml10_content().into_owned()),
                Event::CData(text) => Piece::Text(text.xml10_content().into_owned()),
                Event::GeneralRef(reference) => Piece::Text(resolved(&reference)),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
                Event::Eof if self.depth > 0 => return Err("it ends in the middle".to_owned()),
                Event::Eof => Piece::End,
            });
        }
    }
}

impl Element {
    fn of(start: &BytesStart) -> Self {
        let mut attributes = BTreeMap::new();
        for attribute in start.attributes().with_checks(false).flatten().take(MAX_ATTRIBUTES) {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.unwrap_or_else(|_| attribute.value.clone()).into_owned();
            attributes.insert(local(attribute.key.as_ref()).to_owned(), value);
        }
        Self {
            name: local(start.name().as_ref()).to_owned(),
            attributes,
        }
    }

    /// Returns the value of an attribute; none where it is missing or empty.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }
}

/// Returns a name without the namespace before it.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn resolved(reference: &BytesRef) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    let name: &str = reference;
    match quick_xml::escape::resolve_predefined_entity(name) {
        Some(text) => text.to_owned(),
        None => format!("&{name};"),
    }
}
