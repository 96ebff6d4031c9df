//! What the next records of a growing bundle will append to its lanes.

use crate::pack::ContentSlice as Slice;
use crate::pack::lanes::{FIRST_LANE, MAX_LANES, SINGLE_LANE, address, place_of};

/// Bytes that wait for a record, and the lengths of all lanes with them.
#[derive(Debug)]
pub(crate) struct LaneWriter {
    ends: Vec<u64>,
    /// The bytes in the order in which they were appended.
    pub(crate) content: Vec<u8>,
    /// The lane and the number of bytes of each run of `content`.
    pub(crate) runs: Vec<(usize, u32)>,
    /// Most lanes.
    most: usize,
}

impl LaneWriter {
    /// Starts behind lanes of these lengths.
    pub(crate) fn new(mut ends: Vec<u64>) -> Self {
        ends.resize(ends.len().max(FIRST_LANE), 0);
        Self { ends, content: Vec::new(), runs: Vec::new(), most: MAX_LANES }
    }

    /// Like [`new`](Self::new), with fewer lanes than readers accept.
    #[cfg(test)]
    pub(crate) fn with_most(most: usize) -> Self {
        Self { most, ..Self::new(Vec::new()) }
    }

    /// Appends bytes to a lane. Returns the slice that they are, which is empty if there are none.
    pub(crate) fn append(&mut self, lane: usize, bytes: &[u8]) -> Slice {
        self.content.extend_from_slice(bytes);
        self.note(lane, bytes.len())
    }

    /// Like [`append`](Self::append) for bytes that follow those of `content` and are not copied there.
    pub(crate) fn note(&mut self, lane: usize, bytes: usize) -> Slice {
        let slice = Slice { start: address(lane, self.ends[lane]), bytes: bytes as u64 };
        if bytes > 0 {
            self.ends[lane] += slice.bytes;
            match self.runs.last_mut() {
                Some((last, run_bytes))
                    if *last == lane
                        && u32::try_from(bytes).is_ok_and(|more| run_bytes.checked_add(more).is_some()) =>
                {
                    *run_bytes += bytes as u32;
                }
                _ => {
                    let (whole, rest) = (bytes / u32::MAX as usize, (bytes % u32::MAX as usize) as u32);
                    self.runs.extend(std::iter::repeat_n((lane, u32::MAX), whole));
                    self.runs.extend((rest > 0).then_some((lane, rest)));
                }
            }
        }
        slice
    }

    /// Returns a lane in which bytes continue a slice: the one that ends with the slice, or a new one.
    pub(crate) fn behind(&mut self, before: Option<Slice>) -> usize {
        if let Some(before) = before {
            let (lane, position) = place_of(before.start);
            if lane >= FIRST_LANE && position + before.bytes == self.ends[lane] {
                return lane;
            }
        }
        // A lane is begun by the next bytes, so it must not stay empty if another one is begun.
        if self.ends.last() == Some(&0) && self.ends.len() > FIRST_LANE {
            return self.ends.len() - 1;
        }
        // What would have been a lane of its own is among the single pieces then: its files have more slices, and nothing is lost.
        if self.ends.len() >= self.most {
            return SINGLE_LANE;
        }
        self.ends.push(0);
        self.ends.len() - 1
    }
}

/// Adds a slice to those of a file. A slice that continues the last one makes it longer.
pub(crate) fn push_slice(slices: &mut Vec<Slice>, slice: Slice) {
    match slices.last_mut() {
        Some(last) if last.end() == slice.start => last.bytes += slice.bytes,
        _ if slice.bytes > 0 => slices.push(slice),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_continues_stays_together() {
        let mut lanes = LaneWriter::new(Vec::new());
        let first = lanes.behind(None);
        let one = lanes.append(first, b"one");
        assert_eq!((first, lanes.behind(Some(one))), (FIRST_LANE, FIRST_LANE));
        lanes.append(SINGLE_LANE, b"between");
        let two = lanes.append(lanes.runs[0].0, b"two");
        let other = lanes.behind(Some(one));
        assert_eq!((other, lanes.behind(Some(one))), (FIRST_LANE + 1, FIRST_LANE + 1), "a new lane, begun once");
        let mut slices = Vec::new();
        [one, two].into_iter().for_each(|slice| push_slice(&mut slices, slice));
        assert_eq!(slices, [Slice { start: address(FIRST_LANE, 0), bytes: 6 }]);
        assert_eq!((&lanes.content[..], &lanes.runs[..]), (&b"onebetweentwo"[..], &[(4, 3), (3, 7), (4, 3)][..]));
        assert_eq!(lanes.append(other, b"").bytes, 0);
    }

    #[test]
    fn behind_the_last_lane_everything_goes_to_the_single_pieces() {
        assert_eq!(LaneWriter::new(Vec::new()).most, MAX_LANES);
        let mut lanes = LaneWriter::with_most(FIRST_LANE + 2);
        for expected in [FIRST_LANE, FIRST_LANE + 1, SINGLE_LANE, SINGLE_LANE] {
            let lane = lanes.behind(None);
            assert_eq!(lane, expected);
            lanes.append(lane, b"text");
        }
        let known = Slice { start: address(FIRST_LANE, 0), bytes: 4 };
        assert_eq!(lanes.behind(Some(known)), FIRST_LANE, "a lane that is there is continued");
        let single = Slice { start: address(SINGLE_LANE, 4), bytes: 4 };
        assert_eq!(lanes.behind(Some(single)), SINGLE_LANE);
        // A reader that accepts as many lanes takes up with all of them, and begins none either.
        let mut lanes = LaneWriter { most: FIRST_LANE + 2, ..LaneWriter::new(vec![1; FIRST_LANE + 2]) };
        assert_eq!(lanes.behind(None), SINGLE_LANE);
    }
}
