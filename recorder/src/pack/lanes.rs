//! The lanes of a growing bundle: address spaces to which bytes are appended while it is recorded.
//!
//! Everything that a session says is written in the order in which it happens, and yet a conversation must stay one slice
//! however long it gets. So each conversation has a lane, in which its bytes are next to each other, wherever in the file
//! they are. A *run* is a part of a lane that is contiguous in a block.

use super::slice::Slice;

/// Number of bits of an address that are a position in a lane. The bits above them are the number of the lane.
const POSITION_BITS: u32 = 40;

/// Most lanes of a growing bundle.
pub(crate) const MAX_LANES: usize = 1 << 20;

/// Most bytes of one lane.
pub(crate) const MAX_LANE_BYTES: u64 = 1 << POSITION_BITS;

/// The lane that is the event log.
pub(crate) const LOG_LANE: usize = 0;

/// The lane that is the manifest.
pub(crate) const MANIFEST_LANE: usize = 1;

/// The lane that is the recorder's file. It is in the header, and no record appends to it.
pub(crate) const RECORDER_LANE: usize = 2;

/// The lane with bytes of payloads that no later payload is expected to continue.
pub(crate) const SINGLE_LANE: usize = 3;

/// First lane that is begun when it is needed. Those before it are there from the beginning.
pub(crate) const FIRST_LANE: usize = 4;

/// Returns the address of a position in a lane.
pub(crate) fn address(lane: usize, position: u64) -> u64 {
    (lane as u64) << POSITION_BITS | position
}

/// Returns the lane and the position of an address.
pub(crate) fn place_of(address: u64) -> (usize, u64) {
    ((address >> POSITION_BITS) as usize, address & (MAX_LANE_BYTES - 1))
}

/// Bytes of a lane that are contiguous in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Position in the lane.
    pub(super) position: u64,
    /// Number of the block with the bytes.
    pub(super) block: u32,
    /// Offset in the block.
    pub(super) from: u32,
}

/// The runs of all lanes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    runs: usize,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Lane {
    runs: Vec<Run>,
    bytes: u64,
}

impl Lanes {
    /// Returns this many lanes without bytes.
    pub(super) fn new(count: usize) -> Self {
        Self { lanes: vec![Lane::default(); count], runs: 0 }
    }

    /// Returns the number of lanes.
    pub(super) fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the number of runs of all lanes.
    pub(super) fn run_count(&self) -> usize {
        self.runs
    }

    /// Returns the number of bytes in a lane, 0 for one without any.
    pub(super) fn bytes(&self, lane: usize) -> u64 {
        self.lanes.get(lane).map_or(0, |lane| lane.bytes)
    }

    /// Appends bytes of a block to a lane. The next lane is begun by appending to it.
    ///
    /// # Errors
    ///
    /// Returns what is wrong if there is no such lane, or if it gets too long.
    pub(super) fn append(&mut self, lane: usize, bytes: u32, block: u32, from: u32) -> Result<(), &'static str> {
        if lane == self.lanes.len() && lane < MAX_LANES {
            self.lanes.push(Lane::default());
        }
        let lane = self.lanes.get_mut(lane).ok_or("a lane is begun out of turn, or there are too many")?;
        let end = lane.bytes + u64::from(bytes);
        if end > MAX_LANE_BYTES {
            return Err("a lane is too long");
        }
        // Bytes that follow each other in the lane and in the block are one run.
        let goes_on = lane.runs.last().is_some_and(|last| {
            last.block == block && u64::from(from) == u64::from(last.from) + (lane.bytes - last.position)
        });
        if !goes_on {
            lane.runs.push(Run { position: lane.bytes, block, from });
            self.runs += 1;
        }
        lane.bytes = end;
        Ok(())
    }

    /// Returns whether a slice, which is not empty, is inside of a lane.
    pub(super) fn has(&self, slice: Slice) -> bool {
        let (lane, position) = place_of(slice.start);
        slice.bytes > 0 && position.checked_add(slice.bytes).is_some_and(|end| end <= self.bytes(lane))
    }

    /// Returns the number of the run with the byte at an address, which a lane has.
    pub(super) fn run_at(&self, address: u64) -> usize {
        let (lane, position) = place_of(address);
        self.lanes[lane].runs.partition_point(|run| run.position <= position) - 1
    }

    /// Returns the block with the byte at an address, its offset in the block, and how many bytes of the lane are there. `run`
    /// is the number of the run with the byte.
    pub(super) fn place(&self, address: u64, run: usize) -> (usize, u64, u64) {
        let (lane, position) = place_of(address);
        let lane = &self.lanes[lane];
        let Run { position: start, block, from } = lane.runs[run];
        let end = lane.runs.get(run + 1).map_or(lane.bytes, |next| next.position);
        (block as usize, u64::from(from) + position - start, end - position)
    }

    /// Returns all runs, with the lane and the number of bytes of each, in the order in which they were written.
    pub(super) fn in_order(&self) -> Vec<(Run, usize, u32)> {
        let mut runs = Vec::new();
        for (number, lane) in self.lanes.iter().enumerate() {
            let ends = lane.runs.iter().skip(1).map(|run| run.position).chain([lane.bytes]);
            runs.extend(lane.runs.iter().zip(ends).map(|(run, end)| (*run, number, (end - run.position) as u32)));
        }
        runs.sort_unstable_by_key(|(run, ..)| (run.block, run.from));
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_one_wherever_its_bytes_are() {
        let mut lanes = Lanes::default();
        lanes.append(0, 10, 0, 0).expect("appends");
        lanes.append(1, 5, 0, 10).expect("appends");
        lanes.append(1, 5, 0, 15).expect("appends");
        lanes.append(0, 7, 1, 0).expect("appends");
        lanes.append(3, 1, 1, 7).expect_err("the lane before is missing");
        assert_eq!((lanes.len(), lanes.bytes(0), lanes.bytes(1), lanes.bytes(9)), (2, 17, 10, 0));
        let all: Vec<_> =
            lanes.in_order().into_iter().map(|(run, lane, bytes)| (run.block, run.from, lane, bytes)).collect();
        assert_eq!(all, [(0, 0, 0, 10), (0, 10, 1, 10), (1, 0, 0, 7)]);
        let slice = |lane, position, bytes| Slice { start: address(lane, position), bytes };
        assert!(lanes.has(slice(0, 0, 17)) && lanes.has(slice(1, 9, 1)));
        assert!(!lanes.has(slice(0, 10, 8)) && !lanes.has(slice(2, 0, 1)) && !lanes.has(slice(0, 3, 0)));
        let run = lanes.run_at(address(0, 12));
        assert_eq!(lanes.place(address(0, 12), run), (1, 2, 5));
        assert_eq!(lanes.place(address(1, 6), lanes.run_at(address(1, 6))), (0, 16, 4));
    }

    #[test]
    fn there_are_so_many_lanes_of_so_many_bytes_and_no_more() {
        let mut lanes = Lanes::new(MAX_LANES - 1);
        lanes.append(MAX_LANES - 1, 1, 0, 0).expect("the last lane");
        let refused = lanes.append(MAX_LANES, 1, 0, 1).expect_err("a lane too many");
        assert_eq!((refused, lanes.len()), ("a lane is begun out of turn, or there are too many", MAX_LANES));
        let mut lanes = Lanes { lanes: vec![Lane { runs: Vec::new(), bytes: MAX_LANE_BYTES - 3 }], runs: 0 };
        lanes.append(0, 3, 0, 0).expect("fills the lane");
        assert_eq!(lanes.append(0, 1, 0, 3), Err("a lane is too long"));
        assert_eq!(lanes.bytes(0), MAX_LANE_BYTES, "what was refused is not there");
        assert_eq!(place_of(address(MAX_LANES - 1, MAX_LANE_BYTES - 1)), (MAX_LANES - 1, MAX_LANE_BYTES - 1));
    }
}
