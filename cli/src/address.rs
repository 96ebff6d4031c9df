//! Sessions at addresses in object storage. `trace-fleet` knows the stores, so it is started to read for this program.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::SystemTime;

use percent_encoding::percent_decode_str;
use trace_recorder::Bundle;
use trace_recorder::pack::{LendingError, PackedBundle, PackedError, PipedBytes, ReadAt};

use crate::ui::failure::Failure;

/// Name of the program that knows stores and lakes.
pub(crate) const FLEET_PROGRAM: &str = "trace-fleet";

/// Returns the program beside this one, or its name, which the system looks for on the PATH.
pub(crate) fn fleet_program() -> PathBuf {
    let file = format!("{FLEET_PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(file));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(FLEET_PROGRAM))
}

/// Returns the failure to start the program.
pub(crate) fn not_started(program: &Path, error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::data(anyhow::anyhow!("there is no program {FLEET_PROGRAM}")).with_hint(
            "`cargo build --release --manifest-path reducer/fleet/Cargo.toml` makes reducer/fleet/target/release/trace-fleet; \
             put it beside trace or on the PATH",
        ),
        _ => Failure::data(error).context(format!("{} cannot be started", program.display())),
    }
}

/// Returns whether an argument is an address, `SCHEME://...`, and not the path of a file that has such a name.
pub(crate) fn is_address(argument: &Path) -> bool {
    let scheme = argument.to_str().and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme);
    let is_scheme = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    scheme.is_some_and(is_scheme) && !argument.exists()
}

/// Returns the path of an argument that is the URL of a file of this machine, as some answers about lakes name sessions.
pub(crate) fn local_path(argument: &Path) -> Option<PathBuf> {
    let path = argument.to_str()?.strip_prefix("file://").filter(|path| path.starts_with('/'))?;
    Some(PathBuf::from(percent_decode_str(path).decode_utf8().ok()?.into_owned()))
}

/// Returns the failure of a command that reads files, not addresses.
pub(crate) fn unreadable(address: &Path) -> Failure {
    Failure::data(anyhow::anyhow!("{} is an address, and this command reads files", address.display()))
        .with_hint("`trace show`, `why`, `view`, `postmortem` and others that take one session read it where it lies")
}

/// Opens the packed bundle at an address.
///
/// # Errors
///
/// Returns an error if the program that reads it cannot be started, or it cannot be read.
pub(crate) fn open(address: &Path) -> Result<Bundle, Failure> {
    let bytes: Arc<dyn ReadAt> = Arc::new(borrow(address)?);
    let packed = match PackedBundle::from_positioned(Arc::clone(&bytes), address) {
        // It is read record by record from its beginning to its end.
        Err(PackedError::NeedsFile { .. }) => {
            let copied = tempfile::tempfile().and_then(|mut copy| bytes.copy_to(&mut copy).map(|()| copy));
            let copy = copied.map_err(|error| {
                Failure::data(error).context(format!("a copy of {} cannot be made", address.display()))
            })?;
            PackedBundle::from_file(copy, address)
        }
        packed => packed,
    };
    Ok(Bundle::from_packed(packed.map_err(Failure::data)?)?)
}

/// Returns the failure of a bundle of which a read failed. A reduction takes what it cannot read for damage, which a store that
/// does not answer is not.
pub(crate) fn failure_of(bundle: &Bundle) -> Option<Failure> {
    let error = bundle.packed().filter(|_| is_address(bundle.path())).and_then(PackedBundle::failure)?;
    Some(Failure::data(error).context(format!("{} cannot be read", bundle.path().display())))
}

/// Bytes that a child process lends.
#[derive(Debug)]
struct Lent {
    bytes: PipedBytes,
    lender: Child,
}

impl Drop for Lent {
    fn drop(&mut self) {
        // It may wait for a store, and has nothing to put in order.
        let _ = self.lender.kill();
        let _ = self.lender.wait();
    }
}

impl ReadAt for Lent {
    fn bytes(&self) -> u64 {
        self.bytes.bytes()
    }

    fn modified(&self) -> Option<SystemTime> {
        self.bytes.modified()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.bytes.read_exact_at(buffer, offset)
    }
}

/// Starts the program that lends the bytes of an address.
fn borrow(address: &Path) -> Result<Lent, Failure> {
    let program = fleet_program();
    let mut command = Command::new(&program);
    command.arg("read").arg(address).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut lender = command.spawn().map_err(|error| not_started(&program, error))?;
    let (Some(input), Some(output)) = (lender.stdout.take(), lender.stdin.take()) else {
        return Err(Failure::internal(anyhow::anyhow!("a child process has no pipes")));
    };
    match PipedBytes::open(input, output) {
        Ok(bytes) => Ok(Lent { bytes, lender }),
        Err(error) => {
            let _ = lender.kill();
            let _ = lender.wait();
            Err(match error {
                LendingError::Refused(why) => {
                    Failure::data(anyhow::anyhow!("{} cannot be read: {why}", address.display()))
                        .with_hint("an address is that of one session; `trace fleet view --lake URL` shows a lake")
                }
                LendingError::NoGreeting | LendingError::Version { .. } => {
                    Failure::data(anyhow::anyhow!("{} cannot read for this program", program.display())).with_hint(
                        format!("{FLEET_PROGRAM} must be of the same version as trace, {}", env!("CARGO_PKG_VERSION")),
                    )
                }
                LendingError::Io(_) => Failure::data(error),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_files_are_paths() {
        assert_eq!(local_path(Path::new("file:///a%20b/c.trace")), Some(PathBuf::from("/a b/c.trace")));
        for other in ["file://host/a", "s3://bucket/a", "/a", "file:///%ff"] {
            assert_eq!(local_path(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn addresses_are_told_from_paths() {
        for address in ["s3://bucket/a.trace", "gs://b/c", "abfss://a@b/c", "x+y.1-z://a"] {
            assert!(is_address(Path::new(address)), "{address}");
        }
        for path in ["", "a", "/a/b", "a:/b", "://a", "1s://b", "a b://c", "./s3://b", "@last", "store#id"] {
            assert!(!is_address(Path::new(path)), "{path}");
        }
    }
}
