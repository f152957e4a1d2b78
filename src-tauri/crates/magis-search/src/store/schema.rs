//! The fields of the index, and how their terms are split.

use super::{Fields, METADATA, SEQUENCES};
use crate::tokens::RULES;
use crate::vocabulary::BETWEEN;
use tantivy::schema::{FAST, INDEXED, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Splits what is given as terms already.
#[derive(Debug, Clone, Copy)]
pub(super) struct Splitter;

/// The terms of one field, handed out one by one.
pub(super) struct Terms<'t> {
    rest: std::str::SplitTerminator<'t, char>,
    token: Token,
}

impl Tokenizer for Splitter {
    type TokenStream<'a> = Terms<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Terms<'a> {
        Terms {
            rest: text.split_terminator(BETWEEN),
            // Where a term stands is not kept, and tantivy's default is no place.
            token: Token {
                position: 0,
                ..Token::default()
            },
        }
    }
}

impl TokenStream for Terms<'_> {
    fn advance(&mut self) -> bool {
        let Some(term) = self.rest.next() else { return false };
        self.token.text.clear();
        self.token.text.push_str(term);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

pub(super) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let terms = TextFieldIndexing::default()
        .set_tokenizer(RULES)
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(false);
    let sequences = TextFieldIndexing::default()
        .set_tokenizer(SEQUENCES)
        .set_index_option(IndexRecordOption::Basic)
        .set_fieldnorms(false);
    let fields = Fields {
        content: schema.add_u64_field("content", FAST | INDEXED),
        metadata: schema.add_text_field(METADATA, STORED),
        body: schema.add_text_field("body", TextOptions::default().set_indexing_options(terms)),
        literals: schema.add_text_field("literals", TextOptions::default().set_indexing_options(sequences)),
        first: schema.add_u64_field("first", FAST),
        last: schema.add_u64_field("last", FAST),
        length: schema.add_u64_field("length", FAST),
    };
    (schema.build(), fields)
}
