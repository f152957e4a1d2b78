//! The fenced blocks of an answer, also where a fence is missing.

/// The fenced blocks of an answer.
pub(super) struct Fences<'s> {
    answer: &'s str,
    /// Contents, as byte ranges.
    blocks: Vec<std::ops::Range<usize>>,
    /// Where the only fence begins and ends, if it is bare and closes nothing.
    lone: Option<std::ops::Range<usize>>,
}

impl<'s> Fences<'s> {
    pub(super) fn of(answer: &'s str) -> Self {
        let mut fences = Self {
            answer,
            blocks: Vec::new(),
            lone: None,
        };
        let mut open: Option<(Fence, usize, u32)> = None;
        let mut at = 0;
        let mut seen = 0;
        for line in answer.split_inclusive('\n') {
            let (start, end) = (at, at + line.len());
            at = end;
            let Some(fence) = Fence::of(line) else { continue };
            seen += 1;
            match &mut open {
                None => {
                    fences.lone = (seen == 1 && fence.is_bare).then_some(start..end);
                    open = Some((fence, end, 0));
                }
                Some((opening, _, nested)) if opening.is_like(&fence) => {
                    if !fence.is_bare {
                        *nested += 1;
                    } else if *nested > 0 {
                        *nested -= 1;
                    } else {
                        fences.lone = None;
                        fences.blocks.extend(open.take().map(|(_, content, _)| content..start));
                    }
                }
                Some(_) => {}
            }
        }
        fences.blocks.extend(open.map(|(_, content, _)| content..answer.len()));
        fences
    }

    pub(super) fn contents(&self) -> Vec<&'s str> {
        if let Some(lone) = &self.lone {
            let (before, after) = (&self.answer[..lone.start], &self.answer[lone.end..]);
            return if looks_like_code(before) > looks_like_code(after) {
                vec![before, after]
            } else {
                vec![after, before]
            };
        }
        self.blocks.iter().map(|block| &self.answer[block.clone()]).collect()
    }
}

/// A line that opens or closes a block.
struct Fence {
    mark: u8,
    length: usize,
    indent: usize,
    /// Whether no word follows it, so that it can close.
    is_bare: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let trimmed = line.trim_start();
        let mark = *trimmed.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = trimmed.bytes().take_while(|byte| *byte == mark).count();
        let info = trimmed[length..].trim();
        if length < 3 || info.contains(char::from(mark)) {
            return None;
        }
        Some(Self {
            mark,
            length,
            indent: line.len() - trimmed.len(),
            is_bare: info.is_empty(),
        })
    }

    /// Returns whether `other` can close or nest in the block this one opened; deeper ones are part of the code.
    fn is_like(&self, other: &Self) -> bool {
        other.mark == self.mark && other.length >= self.length && other.indent <= self.indent + 3
    }
}

/// Returns how many lines have the looks of code.
fn looks_like_code(text: &str) -> usize {
    let code = |line: &&str| {
        line.starts_with([' ', '\t', '@', '}', '#'])
            || line.trim_end().ends_with(['{', '}', ';', ')', ']', ','])
            || ["def ", "class ", "fn ", "func ", "function ", "async def "]
                .iter()
                .any(|word| line.starts_with(word))
    };
    text.lines().filter(|line| !line.trim().is_empty()).filter(code).count()
}
