//! Which of the outputs that no word marks is the wrong one.

use crate::reproduction::passages::Passage;
use crate::reproduction::pieces::Piece;
use crate::reproduction::wording::{Stance, complains};

/// Calls an output wrong where it is the only one of an issue that complains, or that of an input named in its title.
pub(crate) fn settle(pieces: &mut [Piece], passages: &[Passage]) {
    let title = passages.iter().find_map(|passage| match passage {
        Passage::Heading(text) => Some(text.as_str()),
        Passage::Prose(_) | Passage::Block(_) => None,
    });
    let title = title.filter(|title| complains(title)).unwrap_or_default();
    let complaint = passages.iter().any(|passage| match passage {
        Passage::Heading(text) | Passage::Prose(text) => complains(text),
        Passage::Block(_) => false,
    });
    let mut open: Vec<(&str, &mut Stance)> = Vec::new();
    let mut source = "";
    for piece in pieces {
        match piece {
            Piece::Input(input) => source = input.source.trim(),
            Piece::Output { text, stance, .. } if *stance == Stance::Shown && text.contains(char::is_alphanumeric) => {
                open.push((source, stance));
            }
            Piece::Output { .. } | Piece::Failure { .. } | Piece::File { .. } | Piece::Commands(_) => {}
        }
    }
    if let [(_, only)] = open.as_mut_slice() {
        if complaint {
            **only = Stance::Wrong;
        }
        return;
    }
    for (source, stance) in open {
        if source.len() > 3 && title.contains(source) {
            *stance = Stance::Wrong;
        }
    }
}
