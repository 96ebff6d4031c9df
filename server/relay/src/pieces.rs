//! Messages that are too long for one envelope: they are split into pieces and assembled again.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::envelope::Piece;

/// Most bytes of a message.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Longest envelope of a server that is not split, as in the Codex CLI.
pub const MAX_WHOLE_BYTES: usize = 150 << 10;

/// Most bytes of a message in one piece that a server sends, as in the Codex CLI.
pub const SERVER_PIECE_BYTES: usize = 100 << 10;

/// Most bytes of a message in one piece that a relay sends.
pub const RELAY_PIECE_BYTES: usize = 128 << 10;

/// Most pieces of a message, as in the Codex CLI.
pub const MAX_PIECES: usize = 1_024;

/// Splits a message into pieces of nearly the same size, with at most `most` bytes each.
pub fn split(seq: u64, message: &str, most: usize) -> impl ExactSizeIterator<Item = Piece<'static>> {
    let size = message.len();
    let count = size.div_ceil(most).max(1);
    let each = size.div_ceil(count).max(1);
    let chunks = message.as_bytes().chunks(each);
    let count = chunks.len();
    chunks.enumerate().map(move |(segment, bytes)| Piece {
        seq,
        cursor: None,
        segment,
        count,
        size,
        content: Cow::Owned(STANDARD.encode(bytes)),
    })
}

/// Why a piece cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PieceError {
    /// The message would be longer than [`MAX_MESSAGE_BYTES`] or have more than [`MAX_PIECES`] pieces.
    #[error(
        "a message of {size} bytes in {count} pieces is longer than {MAX_MESSAGE_BYTES} bytes or {MAX_PIECES} pieces"
    )]
    TooLong {
        /// Bytes of the message.
        size: usize,
        /// Number of pieces.
        count: usize,
    },
    /// A piece before this one is missing.
    #[error("piece {found} came instead of piece {expected}")]
    Gap {
        /// Index of the expected piece.
        expected: usize,
        /// Index of this piece.
        found: usize,
    },
    /// The piece contradicts itself or the pieces before it.
    #[error("a piece does not fit into its message")]
    Inconsistent,
    /// The content is not base64.
    #[error("a piece is not base64")]
    NotBase64,
    /// The assembled message is not UTF-8.
    #[error("an assembled message is not UTF-8")]
    NotText,
}

/// What a piece completes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// More pieces are expected.
    Incomplete,
    /// The piece had arrived before.
    Repeated,
    /// The message is complete.
    Complete(String),
}

/// Assembles the messages of one direction of a stream, one after the other.
#[derive(Debug, Default)]
pub struct Assembler(Option<Assembly>);

#[derive(Debug)]
struct Assembly {
    seq: u64,
    count: usize,
    size: usize,
    next: usize,
    bytes: Vec<u8>,
}

impl Assembler {
    /// Takes the next piece. Pieces of an earlier message that is incomplete are dropped. After an error, the message
    /// of the piece cannot be completed.
    ///
    /// # Errors
    ///
    /// Returns an error if the piece exceeds a limit or does not follow the pieces before it.
    pub fn take(&mut self, piece: &Piece<'_>) -> Result<Taken, PieceError> {
        let taken = self.try_take(piece);
        if taken.is_err() {
            self.0 = None;
        }
        taken
    }

    /// Drops an incomplete message.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    fn try_take(&mut self, piece: &Piece<'_>) -> Result<Taken, PieceError> {
        let Piece { seq, segment, count, size, .. } = *piece;
        if size > MAX_MESSAGE_BYTES || count > MAX_PIECES {
            return Err(PieceError::TooLong { size, count });
        }
        if segment >= count {
            return Err(PieceError::Inconsistent);
        }
        self.0.take_if(|assembly| assembly.seq != seq);
        let assembly = self.0.get_or_insert_with(|| Assembly { seq, count, size, next: 0, bytes: Vec::new() });
        if (assembly.count, assembly.size) != (count, size) {
            return Err(PieceError::Inconsistent);
        }
        if segment < assembly.next {
            return Ok(Taken::Repeated);
        }
        if segment > assembly.next {
            return Err(PieceError::Gap { expected: assembly.next, found: segment });
        }
        // The limit of the message is checked before its bytes are decoded into memory.
        if piece.content.len() / 4 > (size - assembly.bytes.len()) / 3 + 1 {
            return Err(PieceError::Inconsistent);
        }
        STANDARD.decode_vec(piece.content.as_bytes(), &mut assembly.bytes).map_err(|_| PieceError::NotBase64)?;
        assembly.next += 1;
        if assembly.bytes.len() > size {
            return Err(PieceError::Inconsistent);
        }
        if assembly.next < count {
            return Ok(Taken::Incomplete);
        }
        let assembly = self.0.take().ok_or(PieceError::Inconsistent)?;
        if assembly.bytes.len() != size {
            return Err(PieceError::Inconsistent);
        }
        String::from_utf8(assembly.bytes).map(Taken::Complete).map_err(|_| PieceError::NotText)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assemble(pieces: impl IntoIterator<Item = Piece<'static>>) -> Result<Taken, PieceError> {
        let mut assembler = Assembler::default();
        pieces.into_iter().try_fold(Taken::Incomplete, |_, piece| assembler.take(&piece))
    }

    #[test]
    fn pieces_are_of_the_same_size_as_those_of_the_peer() {
        let message = "x".repeat(300_431);
        let pieces: Vec<_> = split(22, &message, SERVER_PIECE_BYTES).collect();
        let sizes: Vec<_> = pieces.iter().map(|piece| piece.content.len()).collect();
        assert_eq!(sizes, [133_528, 133_528, 133_524]);
        assert_eq!(assemble(pieces), Ok(Taken::Complete(message)));
    }

    #[test]
    fn the_longest_message_has_few_enough_pieces() {
        assert!(MAX_MESSAGE_BYTES.div_ceil(SERVER_PIECE_BYTES) <= MAX_PIECES);
        assert!(RELAY_PIECE_BYTES.div_ceil(3) * 4 < 200 << 10);
        let mut piece = split(1, "ab", 1).next().expect("a piece");
        piece.size = MAX_MESSAGE_BYTES + 1;
        assert_eq!(assemble([piece.clone()]), Err(PieceError::TooLong { size: MAX_MESSAGE_BYTES + 1, count: 2 }));
        (piece.size, piece.count) = (1, MAX_PIECES + 1);
        assert_eq!(assemble([piece]), Err(PieceError::TooLong { size: 1, count: MAX_PIECES + 1 }));
    }

    #[test]
    fn bad_pieces_are_refused() {
        let pieces: Vec<_> = split(1, "abcdef", 2).collect();
        assert_eq!(assemble([pieces[0].clone(), pieces[2].clone()]), Err(PieceError::Gap { expected: 1, found: 2 }));
        let with = |change: &dyn Fn(&mut Piece<'static>)| {
            let mut second = pieces[1].clone();
            change(&mut second);
            assemble([pieces[0].clone(), second])
        };
        assert_eq!(with(&|piece| piece.content = "?".into()), Err(PieceError::NotBase64));
        assert_eq!(with(&|piece| piece.size = 7), Err(PieceError::Inconsistent));
        assert_eq!(with(&|piece| piece.segment = 3), Err(PieceError::Inconsistent));
        assert_eq!(with(&|piece| piece.content = "YWFhYWFhYWFh".into()), Err(PieceError::Inconsistent));
        assert_eq!(with(&|piece| piece.segment = 0), Ok(Taken::Repeated));
        let latin = Piece { content: STANDARD.encode(b"\xff").into(), ..split(1, "a", 9).next().expect("a piece") };
        assert_eq!(assemble([latin]), Err(PieceError::NotText));
    }

    proptest! {
        #[test]
        fn pieces_become_the_message(message in ".{0,300}", most in 1_usize..40, repeated in any::<prop::sample::Index>()) {
            let pieces: Vec<_> = split(5, &message, most).collect();
            if message.is_empty() {
                prop_assert!(pieces.is_empty());
            } else {
                prop_assert!(pieces.iter().all(|piece| piece.count == pieces.len() && piece.content.len() <= most.div_ceil(3) * 4));
                // After a cut, all pieces come again.
                let cut = repeated.index(pieces.len());
                let again = pieces[..cut].iter().chain(&pieces).cloned();
                prop_assert_eq!(assemble(again), Ok(Taken::Complete(message)));
            }
        }
    }
}
