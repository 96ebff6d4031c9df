//! The prompt of a turn: from the command line, from stdin, or from both.

use std::io::{IsTerminal, Read};

use crate::ui::failure::Failure;

/// Returns the prompt of the command line, with piped input added, or the prompt from stdin.
pub(crate) fn read(given: Option<&str>) -> Result<String, Failure> {
    let prompt = match given.filter(|given| *given != "-") {
        None => {
            if std::io::stdin().is_terminal() {
                let hint = b"reading the prompt from stdin until end of input\n";
                let _ = std::io::Write::write_all(&mut std::io::stderr(), hint);
            }
            stdin("the prompt")?
        }
        Some(given) if is_piped() => {
            let hint = b"reading more of the prompt from stdin until end of input; < /dev/null leaves it out\n";
            let _ = std::io::Write::write_all(&mut std::io::stderr(), hint);
            match stdin("the piped input")?.trim_end_matches('\n') {
                "" => given.to_owned(),
                piped => format!("{given}\n\n<stdin>\n{piped}\n</stdin>"),
            }
        }
        Some(given) => given.to_owned(),
    };
    if prompt.trim().is_empty() { Err(Failure::usage("the prompt is empty")) } else { Ok(prompt) }
}

/// Most bytes of a prompt, or of a part of it, that are read from stdin.
const MAX_STDIN_BYTES: u64 = 16 << 20;

fn stdin(what: &str) -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .take(MAX_STDIN_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| Failure::data(error).context(format!("{what} cannot be read from stdin")))?;
    if text.len() as u64 > MAX_STDIN_BYTES {
        return Err(Failure::usage(format!("{what} on stdin has more than {} MiB", MAX_STDIN_BYTES >> 20)));
    }
    Ok(text)
}

/// Returns whether stdin is a pipe or a file. Nothing is read from other programs that pass on a socket or a device.
#[cfg(unix)]
fn is_piped() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;

    let stdin = std::io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from);
    let metadata = stdin.and_then(|stdin| stdin.metadata());
    metadata.is_ok_and(|metadata| metadata.file_type().is_fifo() || metadata.is_file())
}

#[cfg(not(unix))]
fn is_piped() -> bool {
    false
}
