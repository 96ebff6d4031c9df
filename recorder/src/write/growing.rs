//! Writes a recording to one file that grows, and that is a packed bundle in the end.
//!
//! Each commit appends one record, or a few if it has more than a block may have: what is new in the payloads since the last
//! one, and the lines. A record is whole or does not count, so a crash loses what was not acknowledged and nothing else. When
//! the recording is complete, the file is replaced by a packed bundle of the same content.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;
use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation, OutBuffer};

use super::body::Pieces;
use super::error::WriteError;
use super::lanes::LaneWriter;
use super::lock::shortened;
use super::options::Durability;
use super::repeats::{MAX_FILE_SLICES, Repeats};
use super::storage::{LockOrigin, OsStorage, Storage, StorageFile, write_all};
use super::target::{Failure, Target};
use crate::files::temporary_path;
use crate::format::Manifest;
use crate::header::{GROWING_HEADER_BYTES, HEADER_BYTES, PackVersion, header_of, is_growing};
use crate::pack::lanes::{LOG_LANE, MANIFEST_LANE};
use crate::pack::record::{BYTES_PER_RUN, MAX_SPAN_BYTES, MIN_RUNS, RECORD_HEAD_BYTES, RecordHead, RecordList};
use crate::pack::{
    ContentSlice as Slice, FINISHED_LEVEL, GrowingState, Level, MAX_BLOCK_BYTES, MAX_BLOCKS, MAX_EXPANSION, MAX_FILES,
    MAX_SLICES, MIN_BYTES, PackStats, PackedBundle, finish,
};
use crate::recording::{Recording, Stopped};

/// Compression level of a growing bundle. It is fast; a finished bundle is compressed again.
const GROWING_LEVEL: i32 = 1;

/// Bytes that the compressor looks back, as a power of two. It holds so many bytes of the open block in memory.
const GROWING_WINDOW_LOG: u32 = 21;

/// Bytes of a block after which the next record begins another one. Unless its last record is long, the compressor remembers all of such a
/// block. One that has forgotten a part is slower, because it compares with two places in memory.
const GROWING_BLOCK_BYTES: usize = 1 << GROWING_WINDOW_LOG;

/// Largest capacity of the buffers that are kept for the next records.
const KEPT_BUFFER_BYTES: usize = 1 << 20;

/// Bytes of decompressed blocks in memory while a bundle is finished, in the process of the session. Blocks are read in the order
/// in which they were written, except for the beginnings and ends of requests.
const FINISHING_CACHE_BYTES: usize = 4 * MAX_BLOCK_BYTES;

/// After this many bytes that are new, the lines that refer to them are written.
const BYTES_BETWEEN_LINES: usize = MAX_BLOCK_BYTES;

/// Files of a bundle that are no payloads: the log, the manifest and the recorder's file.
const RESERVED: usize = 3;

/// Most payloads of a growing bundle, so that readers accept it.
const MAX_RECORDED_FILES: usize = MAX_FILES - RESERVED;

/// Blocks that the payload and the lines which are taken last may need.
const RESERVED_BLOCKS: usize = 1 << 10;

/// Runs that lines and the gap event of another recorder may need.
const RESERVED_RUNS: usize = 1 << 10;

/// Most slices of the files of one commit. With [`RECORD_RUNS`], it keeps the list of a record far below its limit.
const SLICES_BETWEEN_LINES: usize = 1 << 18;

/// Most runs of one record.
const RECORD_RUNS: usize = 1 << 18;

/// Part of the file after which a block is ended, so that its last record cannot exceed the limit on blocks.
const SPAN_BYTES: u64 = MAX_SPAN_BYTES / 2;

/// How much a growing bundle may have, so that readers accept it, and when it is divided.
#[derive(Debug, Clone, Copy)]
struct Limits {
    files: usize,
    slices: usize,
    /// Runs of a bundle of any size; larger ones may have more.
    runs: u64,
    blocks: usize,
    record_runs: usize,
    slices_between_lines: usize,
    span_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            files: MAX_RECORDED_FILES,
            slices: MAX_SLICES - RESERVED,
            runs: MIN_RUNS,
            blocks: MAX_BLOCKS - RESERVED_BLOCKS,
            record_runs: RECORD_RUNS,
            slices_between_lines: SLICES_BETWEEN_LINES,
            span_bytes: SPAN_BYTES,
        }
    }
}

/// A growing bundle that is being written.
pub(crate) struct GrowingTarget {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    /// The file, which is locked.
    file: Box<dyn StorageFile>,
    /// Size of the file up to its last whole record.
    end: u64,
    durability: Durability,
    recording: Recording,
    block: Option<OpenBlock>,
    /// The compressor of the open block, or of the one before it. Its memory is used again.
    encoder: Option<Encoder<'static>>,
    lanes: LaneWriter,
    repeats: Repeats,
    /// Files since the last commit.
    files: Vec<(u64, Vec<Slice>)>,
    /// The records that are written together, empty in between.
    records: Vec<u8>,
    uncommitted_slices: usize,
    /// Number of all files, which readers limit.
    file_count: usize,
    /// Number of slices of all files, which readers limit.
    slice_count: usize,
    /// Bytes of all payload files, which readers limit.
    file_bytes: u64,
    /// Number of runs of all records, which readers limit.
    run_count: usize,
    /// Number of blocks, which readers limit.
    block_count: usize,
    limits: Limits,
}

/// The block that the next record continues.
#[derive(Debug, Clone, Copy)]
struct OpenBlock {
    /// Offset of its first bytes in the file.
    start: u64,
    /// Bytes in it before compression.
    bytes: usize,
}

impl GrowingTarget {
    /// Creates the file at `path`, locks it, and writes the manifest.
    pub(crate) fn create(
        storage: Arc<dyn Storage>,
        path: &Path,
        manifest: &Manifest,
        durability: Durability,
    ) -> Result<Self, WriteError> {
        let mut text = serde_json::to_vec_pretty(manifest).map_err(|error| WriteError::io(path, error.into()))?;
        text.push(b'\n');
        Self::create_with(storage, path, &text, manifest.started_at_unix_ms, durability)
    }

    /// Creates the file with the text of a manifest.
    pub(crate) fn create_with(
        storage: Arc<dyn Storage>,
        path: &Path,
        manifest: &[u8],
        opened_at_unix_ms: i64,
        durability: Durability,
    ) -> Result<Self, WriteError> {
        let failed = |error| WriteError::io(path, error);
        let (file, origin) = lock(&*storage, path)?;
        if origin == LockOrigin::Found {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        let mut target = Self::of(storage, path, file, opened_at_unix_ms, durability);
        let begun = target.begin(manifest);
        if let Err(error) = begun {
            // An incomplete file would make the next attempt fail.
            let _ = target.storage.remove_file(path);
            return Err(failed(error));
        }
        Ok(target)
    }

    fn of(
        storage: Arc<dyn Storage>,
        path: &Path,
        file: Box<dyn StorageFile>,
        opened_at_unix_ms: i64,
        durability: Durability,
    ) -> Self {
        Self {
            storage,
            path: path.to_owned(),
            file,
            end: GROWING_HEADER_BYTES as u64,
            durability,
            recording: Recording { pid: std::process::id(), opened_at_unix_ms, stopped: None },
            block: None,
            encoder: None,
            lanes: LaneWriter::new(Vec::new()),
            repeats: Repeats::default(),
            files: Vec::new(),
            records: Vec::new(),
            uncommitted_slices: 0,
            file_count: 0,
            slice_count: 0,
            file_bytes: 0,
            run_count: 0,
            block_count: 0,
            limits: Limits::default(),
        }
    }

    fn begin(&mut self, manifest: &[u8]) -> io::Result<()> {
        write_all(&mut *self.file, &header(Some(&self.recording))?)?;
        self.lanes.append(MANIFEST_LANE, manifest);
        self.write_records(&[])?;
        if self.durability == Durability::Synced {
            self.file.sync_data()?;
            let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
            self.storage.sync_dir(parent.unwrap_or(Path::new(".")))?;
        }
        Ok(())
    }

    /// Opens a growing bundle whose recorder stopped or died, and locks it. What a crash left behind the last whole record is cut
    /// off by [`go_on`](Self::go_on).
    pub(crate) fn reopen(
        storage: Arc<dyn Storage>,
        path: &Path,
        opened_at_unix_ms: i64,
        durability: Durability,
    ) -> Result<Self, WriteError> {
        let (file, _) = lock(&*storage, path)?;
        Ok(Self::of(storage, path, file, opened_at_unix_ms, durability))
    }

    /// Makes the file end behind its last whole record.
    pub(crate) fn go_on(&mut self, state: GrowingState) -> io::Result<()> {
        let GrowingState { end, lane_bytes, files, slices, file_bytes, runs, blocks } = state;
        self.file.truncate(end)?;
        self.end = end;
        self.lanes = LaneWriter::new(lane_bytes);
        (self.file_count, self.slice_count, self.file_bytes) = (files, slices, file_bytes);
        (self.run_count, self.block_count) = (runs, blocks);
        Ok(())
    }

    /// Writes the header of this recorder. Until then the header says why the earlier recorder stopped.
    pub(crate) fn begin_again(&mut self) -> io::Result<()> {
        self.file.overwrite(&header(Some(&self.recording))?)?;
        // The next bytes go to the end again.
        self.file.truncate(self.end)
    }

    /// Appends everything that was taken. Payloads get into the file before lines or together with them.
    fn write_all_taken(&mut self, lines: &[u8]) -> io::Result<()> {
        let room = self.room();
        if self.lanes.content.len() + lines.len() > room && !self.files.is_empty() {
            self.write_records(&[])?;
        }
        // No line is divided between records, so whatever is cut off, the log ends with a whole line.
        let mut rest = lines;
        while !rest.is_empty() {
            let end = match rest.get(..MAX_BLOCK_BYTES) {
                Some(most) => memchr::memrchr(b'\n', most).map_or(MAX_BLOCK_BYTES, |end| end + 1),
                None => rest.len(),
            };
            let (now, later) = rest.split_at(end);
            if self.lanes.content.len() + now.len() > self.room() {
                if !self.lanes.content.is_empty() {
                    self.write_records(&[])?;
                }
                self.block = if now.len() > self.room() { None } else { self.block.take() };
            }
            self.lanes.note(LOG_LANE, now.len());
            self.write_records(now)?;
            rest = later;
        }
        if lines.is_empty() { self.write_records(&[]) } else { Ok(()) }
    }

    /// Returns how many bytes fit into the open block.
    fn room(&self) -> usize {
        self.block.as_ref().map_or(MAX_BLOCK_BYTES, |block| MAX_BLOCK_BYTES - block.bytes)
    }

    /// Writes the bytes and files that wait, and the lines behind them, as one record or as several. The files are in the last of them.
    fn write_records(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut content = std::mem::take(&mut self.lanes.content);
        let mut records = std::mem::take(&mut self.records);
        let written = self.encode_records(&content, lines, &mut records).and_then(|()| {
            write_all(&mut *self.file, &records).inspect_err(|_| {
                // A part of a record does no harm, but what another recorder appends behind it would not be found.
                let _ = self.file.truncate(self.end);
            })
        });
        self.end += if written.is_ok() { records.len() as u64 } else { 0 };
        for buffer in [&mut content, &mut records] {
            buffer.clear();
            buffer.shrink_to(KEPT_BUFFER_BYTES);
        }
        (self.lanes.content, self.records) = (content, records);
        written
    }

    /// Encodes content, of which the last part is `lines`, and the files that wait.
    fn encode_records(&mut self, content: &[u8], lines: &[u8], records: &mut Vec<u8>) -> io::Result<()> {
        let mut runs = Runs(std::mem::take(&mut self.lanes.runs));
        let mut files = std::mem::take(&mut self.files);
        self.uncommitted_slices = 0;
        let Limits { span_bytes, record_runs, .. } = self.limits;
        self.run_count += runs.0.len();
        let mut rest = [content, lines];
        while !is_empty(&rest) || !files.is_empty() {
            let offset = self.end + records.len() as u64;
            let is_over = |block: &OpenBlock| offset - block.start.min(offset) >= span_bytes;
            if self.block.as_ref().is_some_and(is_over) {
                self.block = None;
            }
            let now = take_bytes(&mut rest, runs.bytes_of(record_runs).min(self.room()));
            let bytes = now[0].len() + now[1].len();
            let files = if is_empty(&rest) { std::mem::take(&mut files) } else { Vec::new() };
            let head_at = records.len();
            records.resize(head_at + RECORD_HEAD_BYTES, 0);
            RecordList { runs: runs.take(bytes), files }.append_to(records);
            let packed_at = records.len();
            let behind_list = self.end + packed_at as u64;
            let most_packed = zstd::zstd_safe::compress_bound(bytes) as u64;
            let is_too_long = |block: &OpenBlock| behind_list - block.start.min(offset) + most_packed > MAX_SPAN_BYTES;
            if self.block.as_ref().is_some_and(is_too_long) {
                self.block = None;
            }
            let begins_block = self.compress(now, behind_list, records)?;
            let (before, packed) = records.split_at_mut(packed_at);
            let (head, list) = before[head_at..].split_at_mut(RECORD_HEAD_BYTES);
            let of_record = RecordHead {
                begins_block,
                list_bytes: list.len() as u32,
                packed_bytes: packed.len() as u32,
                bytes: bytes as u32,
                checksum: xxh3_64(packed),
            };
            head.copy_from_slice(&of_record.encode(list, offset));
        }
        Ok(())
    }

    /// Compresses bytes as a part of the open block, or of a new one, and appends them. Returns whether it is a new one.
    fn compress(&mut self, bytes: [&[u8]; 2], offset: u64, to: &mut Vec<u8>) -> io::Result<bool> {
        if is_empty(&bytes) {
            return Ok(false);
        }
        let begins_block = self.block.is_none();
        let encoder = match &mut self.encoder {
            Some(encoder) => encoder,
            encoder => {
                let mut new = Encoder::new(GROWING_LEVEL)?;
                new.set_parameter(CParameter::WindowLog(GROWING_WINDOW_LOG))?;
                encoder.insert(new)
            }
        };
        if begins_block {
            encoder.reinit()?;
            self.block_count += 1;
        }
        let block = self.block.get_or_insert(OpenBlock { start: offset, bytes: 0 });
        block.bytes += bytes[0].len() + bytes[1].len();
        if block.bytes >= GROWING_BLOCK_BYTES {
            self.block = None;
        }
        compress(encoder, bytes, to)?;
        Ok(begins_block)
    }
}

/// Compresses bytes so that they can be read without those that follow, and appends them.
fn compress(encoder: &mut Encoder<'_>, bytes: [&[u8]; 2], to: &mut Vec<u8>) -> io::Result<()> {
    for part in bytes {
        let mut input = InBuffer::around(part);
        while input.pos() < part.len() {
            to.reserve(part.len() / 8 + MIN_OUTPUT_BYTES);
            let end = to.len();
            encoder.run(&mut input, &mut OutBuffer::around_pos(to, end))?;
        }
    }
    loop {
        to.reserve(MIN_OUTPUT_BYTES);
        let end = to.len();
        if encoder.flush(&mut OutBuffer::around_pos(to, end))? == 0 {
            return Ok(());
        }
    }
}

const _: () = assert!(1 << GROWING_WINDOW_LOG <= MAX_BLOCK_BYTES, "readers refuse larger windows");

/// Least room for compressed bytes.
const MIN_OUTPUT_BYTES: usize = 4 << 10;

fn is_empty(parts: &[&[u8]; 2]) -> bool {
    parts.iter().all(|part| part.is_empty())
}

/// Takes the first `bytes` bytes of two parts that follow each other.
fn take_bytes<'b>(parts: &mut [&'b [u8]; 2], bytes: usize) -> [&'b [u8]; 2] {
    let of_first = bytes.min(parts[0].len());
    let of_second = (bytes - of_first).min(parts[1].len());
    let (first, second) = (parts[0].split_at(of_first), parts[1].split_at(of_second));
    *parts = [first.1, second.1];
    [first.0, second.0]
}

impl Target for GrowingTarget {
    fn payload(&mut self, ordinal: u64, conversation: u64, document: Pieces) -> Result<(), Failure> {
        let bytes = self.file_bytes + document.bytes() as u64;
        let runs = self.run_count + self.lanes.runs.len() + document.most_runs() + RESERVED_RUNS;
        // Readers refuse a bundle with more. What is recorded so far stays readable.
        if self.file_count >= self.limits.files
            || self.slice_count + MAX_FILE_SLICES > self.limits.slices
            || bytes > MIN_BYTES / 2 + MAX_EXPANSION / 2 * self.end
            || runs as u64 > self.limits.runs + self.end / BYTES_PER_RUN
            || self.block_count >= self.limits.blocks
        {
            let error = io::Error::new(io::ErrorKind::FileTooLarge, "a packed bundle cannot have more payloads");
            return Err(Failure { name: format!("payload {ordinal}"), error });
        }
        let slices = self.repeats.store(conversation, document, &mut self.lanes);
        self.file_count += 1;
        self.file_bytes = bytes;
        self.slice_count += slices.len();
        self.uncommitted_slices += slices.len() + 1;
        self.files.push((ordinal, slices));
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.lanes.content.len() >= BYTES_BETWEEN_LINES || self.uncommitted_slices >= self.limits.slices_between_lines
    }

    fn commit(&mut self, lines: &[u8]) -> Result<(), Failure> {
        let before = self.end;
        let written = self.write_all_taken(lines).and_then(|()| match self.durability {
            Durability::Buffered => Ok(()),
            Durability::Synced => self.file.sync_data(),
        });
        written.map_err(|error| {
            // Lines that could not be synced must not look as if they were.
            let _ = self.file.truncate(before);
            Failure { name: "records".to_owned(), error }
        })
    }

    fn rest(&mut self) {
        (self.block, self.encoder) = (None, None);
        self.repeats.rest();
        (self.lanes.content, self.records) = (Vec::new(), Vec::new());
    }

    fn mark_stopped(&mut self, stopped: Stopped) -> io::Result<()> {
        self.recording.stopped = Some(shortened(stopped));
        self.file.overwrite(&header(Some(&self.recording))?)
    }

    fn complete(self: Box<Self>) -> Result<(), Failure> {
        let Self { storage, path, mut file, end, repeats, encoder, .. } = *self;
        drop((repeats, encoder));
        // From here on the bundle is complete, whether or not it can be replaced.
        file.overwrite(&header(None).map_err(Failure::new("header"))?).map_err(Failure::new("header"))?;
        let finished = write_beside(&*storage, &path, &path, Some(end), FINISHED_LEVEL);
        finished.map(drop).map_err(Failure::new("finished bundle"))
    }
}

/// Writes a packed bundle of the growing one at `bundle` to `target`, in place of what is there; both may be the same file. Its
/// recorder must be gone. What a crash cut off behind the last whole record is left out. If this fails, the growing bundle stays
/// as it is.
///
/// # Errors
///
/// Returns an error if the bundle is being recorded or is not a growing one, or if the packed bundle cannot be made.
pub fn finish_growing(bundle: &Path, target: &Path, level: Level) -> Result<PackStats, WriteError> {
    let failed = |error| WriteError::io(bundle, error);
    if !is_growing(bundle).map_err(failed)? {
        return Err(WriteError::Complete { path: bundle.to_owned() });
    }
    let storage = OsStorage;
    // The lock is held until the file is replaced, so that no recorder takes up the growing bundle meanwhile.
    let _lock = lock(&storage, bundle)?;
    // Another process may have finished it before the lock was taken.
    if !is_growing(bundle).map_err(failed)? {
        return Err(WriteError::Complete { path: bundle.to_owned() });
    }
    write_beside(&storage, bundle, target, None, level).map_err(|error| WriteError::io(target, error))
}

/// Writes a packed bundle of the growing one at `path`, whose last record ends at `end` if that is known, and puts it in the place
/// of `target`. If this fails, nothing is replaced.
fn write_beside(
    storage: &dyn Storage,
    path: &Path,
    target: &Path,
    end: Option<u64>,
    level: Level,
) -> io::Result<PackStats> {
    let temporary = temporary_path(target);
    storage.remove_leftover(&temporary)?;
    let finished = write_finished(storage, path, &temporary, end, level);
    let finished = finished.and_then(|stats| storage.rename(&temporary, target).map(|()| stats));
    let stats = finished.inspect_err(|_| {
        // The error matters more than a file left behind.
        let _ = storage.remove_leftover(&temporary);
    })?;
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    storage.sync_dir(parent.unwrap_or(Path::new(".")))?;
    Ok(stats)
}

fn write_finished(
    storage: &dyn Storage,
    path: &Path,
    temporary: &Path,
    end: Option<u64>,
    level: Level,
) -> io::Result<PackStats> {
    let mut growing = PackedBundle::open(path).map_err(io::Error::other)?;
    growing.limit_cache(FINISHING_CACHE_BYTES);
    if growing.growing_state().is_none_or(|state| end.is_some_and(|end| state.end != end)) {
        return Err(io::Error::other("the file is not what was recorded; it is left as it is"));
    }
    let mut out = Out(storage.create_file_like(temporary, path)?);
    let stats = finish(&growing, &mut out, level).map_err(io::Error::other)?;
    // The growing bundle, which may have been on the disk for hours, is replaced only by one that is there as well.
    out.0.sync_data()?;
    let mut finished = PackedBundle::open(temporary).map_err(io::Error::other)?;
    finished.limit_cache(FINISHING_CACHE_BYTES);
    match finished.verify().map_err(io::Error::other)?.into_iter().next() {
        None => Ok(stats),
        Some(damage) => Err(io::Error::other(damage)),
    }
}

/// A file of the storage, for code that writes.
struct Out(Box<dyn StorageFile>);

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lock(storage: &dyn Storage, path: &Path) -> Result<(Box<dyn StorageFile>, LockOrigin), WriteError> {
    storage.lock_file(path).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => WriteError::Locked { path: path.to_owned() },
        _ => WriteError::io(path, error),
    })
}

/// Returns the header of a growing bundle, with the space for the recorder's file.
fn header(recording: Option<&Recording>) -> io::Result<Vec<u8>> {
    let mut header = header_of(PackVersion::GROWING).to_vec();
    if let Some(recording) = recording {
        header.extend(serde_json::to_vec(recording)?);
    }
    debug_assert!(HEADER_BYTES < header.len() + 1 && header.len() < GROWING_HEADER_BYTES, "the reason is shortened");
    header.resize(GROWING_HEADER_BYTES - 1, b' ');
    header.push(b'\n');
    Ok(header)
}

/// The runs of bytes that wait, from which those of a record are taken.
struct Runs(Vec<(usize, u32)>);

impl Runs {
    /// Returns how many bytes the first so many runs have.
    fn bytes_of(&self, most: usize) -> usize {
        self.0.iter().take(most).map(|(_, bytes)| *bytes as usize).sum()
    }

    /// Takes the runs of the next bytes.
    fn take(&mut self, mut bytes: usize) -> Vec<(usize, u32)> {
        let mut taken = Vec::new();
        let mut whole = 0;
        for (lane, run_bytes) in &mut self.0 {
            if bytes == 0 {
                break;
            }
            let now = bytes.min(*run_bytes as usize);
            taken.push((*lane, now as u32));
            bytes -= now;
            *run_bytes -= now as u32;
            whole += usize::from(*run_bytes == 0);
        }
        self.0.drain(..whole);
        taken
    }
}

impl fmt::Debug for GrowingTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrowingTarget").field("path", &self.path).field("end", &self.end).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::EVENT_LOG_FILE;
    use crate::write::body::{Piece, Text};

    struct Scene {
        _root: tempfile::TempDir,
        path: PathBuf,
        target: GrowingTarget,
        /// The payloads that were taken.
        taken: Vec<(u64, Vec<u8>)>,
        log: Vec<u8>,
    }

    impl Scene {
        fn new(limits: Limits) -> Self {
            let root = tempfile::tempdir().expect("a directory");
            let path = root.path().join("a.trace");
            let manifest = Manifest::new("trace-1", "rollout-1", "thread-1", 1);
            let target =
                GrowingTarget::create(Arc::new(OsStorage), &path, &manifest, Durability::Buffered).expect("creates");
            let target = GrowingTarget { limits, ..target };
            Self { _root: root, path, target, taken: Vec::new(), log: Vec::new() }
        }

        fn take(&mut self, text: &[u8]) -> Result<(), Failure> {
            self.take_pieces(vec![Piece::single(text.to_vec().into())])
        }

        fn take_pieces(&mut self, pieces: Vec<Piece>) -> Result<(), Failure> {
            let ordinal = self.taken.len() as u64 + 1;
            let text = pieces.iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
            self.target.payload(ordinal, 1, Pieces::Many(pieces))?;
            self.taken.push((ordinal, text));
            Ok(())
        }

        fn commit(&mut self) {
            let line = format!("{{\"seq\":{}}}\n", self.log.iter().filter(|byte| **byte == b'\n').count() + 1);
            self.target.commit(line.as_bytes()).expect("writes");
            self.log.extend_from_slice(line.as_bytes());
        }

        /// Checks that the next payload is refused, and that everything before it is there.
        fn is_full(&mut self, text: &[u8]) {
            let Failure { name, error } = self.take(text).expect_err("is full");
            assert_eq!(name, format!("payload {}", self.taken.len() + 1));
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
            assert_eq!(error.to_string(), "a packed bundle cannot have more payloads");
            self.commit();
            self.is_whole();
        }

        /// Checks that the file has what was taken and committed, also when it is finished.
        fn is_whole(&self) {
            let finished = self.path.with_extension("finished");
            for path in [&self.path, &finished] {
                let packed = PackedBundle::open(path).expect("opens");
                let mut text = Vec::new();
                for (ordinal, taken) in &self.taken {
                    packed.read(&format!("payloads/{ordinal}.json"), &mut text).expect("reads");
                    assert!(text == *taken, "payload {ordinal}");
                }
                assert_eq!(packed.read_log(EVENT_LOG_FILE).expect("reads"), self.log);
                assert_eq!(packed.torn_bytes(), 0);
                if path == &self.path {
                    write_finished(&OsStorage, path, &finished, None, FINISHED_LEVEL).expect("finishes");
                }
            }
            std::fs::remove_file(finished).expect("removes");
        }

        fn blocks(&self) -> usize {
            PackedBundle::open(&self.path).expect("opens").growing_state().expect("grows").blocks
        }
    }

    fn noise(seed: usize, bytes: usize) -> Vec<u8> {
        let mut state = seed as u64 + 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as u8
        };
        (0..bytes).map(|_| next()).collect()
    }

    #[test]
    fn a_block_ends_with_the_record_that_makes_it_long_or_with_a_pause() {
        let mut scene = Scene::new(Limits::default());
        // The manifest has begun one, and the header counts as another.
        for (record, blocks) in [2, 2, 2, 2, 3, 3].into_iter().enumerate() {
            scene.take(&noise(record, GROWING_BLOCK_BYTES / 4)).expect("has room");
            scene.commit();
            assert_eq!(scene.blocks(), blocks, "after {} records", record + 1);
        }
        scene.is_whole();
        // A pause ends the block, and gives up the memory of the compressor.
        scene.target.rest();
        assert!(scene.target.encoder.is_none());
        scene.take(b"after a pause").expect("has room");
        scene.commit();
        assert_eq!(scene.blocks(), 4);
        scene.is_whole();
    }

    #[test]
    fn the_limits_leave_room_for_what_readers_accept() {
        let Limits { files, slices, runs, blocks, record_runs, slices_between_lines, span_bytes } = Limits::default();
        assert_eq!((files, slices), (MAX_FILES - 3, MAX_SLICES - 3));
        assert_eq!((runs, blocks), (MIN_RUNS, MAX_BLOCKS - RESERVED_BLOCKS));
        // A run takes at most 3 and 5 bytes of a list, and a slice 3, 6 and 5.
        let list_bytes = record_runs * 8 + (slices_between_lines + MAX_FILE_SLICES) * (14 + 16);
        assert!(list_bytes < crate::pack::record::MAX_LIST_BYTES, "{list_bytes}");
        // The last record of a block has at most twice a block, and a list.
        assert!(span_bytes + 2 * MAX_BLOCK_BYTES as u64 <= MAX_SPAN_BYTES);
    }

    #[test]
    fn files_slices_and_bytes_are_limited_to_what_readers_accept() {
        let mut scene = Scene::new(Limits { files: 3, ..Limits::default() });
        (0..3).for_each(|number| scene.take(&noise(number, 50)).expect("has room"));
        scene.is_full(b"x");

        let mut scene = Scene::new(Limits { slices: MAX_FILE_SLICES + 2, ..Limits::default() });
        (0..3).for_each(|number| scene.take(&noise(number, 50)).expect("has room"));
        scene.is_full(b"x");

        let mut scene = Scene::new(Limits::default());
        scene.take(b"taken").expect("has room");
        scene.commit();
        scene.target.file_bytes = MIN_BYTES / 2 + MAX_EXPANSION / 2 * scene.target.end - 4;
        scene.take(b"four").expect("has room");
        scene.is_full(b"x");
    }

    #[test]
    fn runs_and_blocks_are_limited_to_what_readers_accept() {
        let mut scene = Scene::new(Limits { runs: RESERVED_RUNS as u64, ..Limits::default() });
        let allowed = RESERVED_RUNS as u64 + scene.target.end / BYTES_PER_RUN;
        let pieces = |seed: usize| -> Vec<Piece> {
            let shared = |number: usize| Piece::shared(noise(seed * 100 + number, 9).into(), 0);
            let single = |number: usize| Piece::single(noise(seed * 100 + number + 50, 9).into());
            (0..20).flat_map(|number| [shared(number), single(number)]).collect()
        };
        let mut seed = 0;
        while scene.take_pieces(pieces(seed)).is_ok() {
            seed += 1;
        }
        let used = scene.target.run_count + scene.target.lanes.runs.len();
        assert!(
            seed >= 3 && used as u64 + 81 > allowed - RESERVED_RUNS as u64 && used as u64 <= allowed,
            "{used} of {allowed}"
        );
        scene.commit();
        scene.is_whole();

        let mut scene = Scene::new(Limits { blocks: 3, ..Limits::default() });
        let blocks_before = scene.target.block_count;
        for number in blocks_before..3 {
            scene.target.rest();
            scene.take(&noise(number, 50)).expect("has room");
            scene.commit();
        }
        scene.target.rest();
        scene.is_full(b"x");
    }

    #[test]
    fn a_recorder_that_goes_on_counts_what_is_there() {
        let mut scene = Scene::new(Limits::default());
        for number in 0..5 {
            scene.take(&noise(number, 700)).expect("has room");
            scene.commit();
            scene.target.rest();
        }
        let state = PackedBundle::open(&scene.path).expect("opens").growing_state().expect("grows");
        // Readers count the block of the recorder's file as well, and the runs of one block as one.
        assert_eq!(state.blocks, scene.target.block_count + 1);
        assert!(state.runs <= scene.target.run_count + 1 && state.runs > 10, "{} runs", state.runs);
        let mut again = Scene::new(Limits::default());
        again.target.go_on(state.clone()).expect("goes on");
        assert_eq!((again.target.run_count, again.target.block_count), (state.runs, state.blocks));
    }

    #[test]
    fn many_slices_are_written_before_a_list_gets_too_long() {
        let mut scene = Scene::new(Limits { slices_between_lines: 6, ..Limits::default() });
        for _ in 0..3 {
            assert!(!scene.target.is_full());
            scene.take(b"a payload").expect("has room");
        }
        assert!(scene.target.is_full(), "a slice and a file count as two");
        scene.commit();
        assert!(!scene.target.is_full());
        scene.is_whole();

        let mut scene = Scene::new(Limits::default());
        scene.take(&noise(1, BYTES_BETWEEN_LINES - 1)).expect("has room");
        assert!(!scene.target.is_full());
        scene.take(b"x").expect("has room");
        assert!(scene.target.is_full(), "a block is full");
        scene.commit();
        scene.is_whole();
    }

    #[test]
    fn many_runs_are_divided_between_records() {
        let mut scene = Scene::new(Limits { record_runs: 2, ..Limits::default() });
        let before = scene.target.end;
        let shared = |number: usize| Piece::shared(noise(number, 20).into(), 0);
        let pieces =
            (0..10).flat_map(|number| [shared(number), Piece::single(noise(number + 90, 20).into())]).collect();
        scene.take_pieces(pieces).expect("has room");
        scene.commit();
        scene.is_whole();
        let bytes = std::fs::read(&scene.path).expect("reads");
        let heads = memchr::memmem::find_iter(&bytes[before as usize..], b"rec\n").count();
        assert_eq!(heads, 11, "21 runs, two in a record");
    }

    #[test]
    fn a_block_ends_before_it_takes_too_much_of_the_file() {
        let mut scene = Scene::new(Limits { span_bytes: 10_000, ..Limits::default() });
        let blocks_before = scene.blocks();
        for number in 0..40 {
            scene.take(&noise(number, 1_000)).expect("has room");
            scene.commit();
        }
        scene.is_whole();
        // Noise does not get smaller, so ten commits reach the limit.
        assert_eq!(scene.blocks() - blocks_before, 3);

        let mut scene = Scene::new(Limits { span_bytes: 1, ..Limits::default() });
        let blocks_before = scene.blocks();
        for number in 0..9 {
            scene.take(&noise(number, 1_000)).expect("has room");
            scene.commit();
        }
        scene.is_whole();
        assert_eq!(scene.blocks() - blocks_before, 9, "each record begins a block");
    }

    #[test]
    fn a_text_is_taken_like_pieces() {
        let mut scene = Scene::new(Limits::default());
        scene.target.payload(1, 0, Pieces::One(Text::Owned(b"\"text\"".to_vec()))).expect("has room");
        scene.taken.push((1, b"\"text\"".to_vec()));
        scene.commit();
        scene.is_whole();
    }
}
