//! Ends a run: prints the last message and returns the exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::Terminal;

/// Exit code after an interrupt. It is the one that shells report for a process that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Prints the help or the error of the command line parser.
pub(crate) fn answer(answer: &clap::Error) -> ExitCode {
    // If stdout or stderr cannot be written to, this error cannot be reported either.
    let _ = answer.print();
    if answer.use_stderr() { ExitCode::from(Kind::Usage.exit_code()) } else { ExitCode::SUCCESS }
}

/// Prints the failure that ended the run, if there is one, and returns the exit code.
pub(crate) fn finish(ending: Result<Ending, Failure>, terminal: &Terminal) -> ExitCode {
    match ending {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::NothingFound) => ExitCode::from(1),
        Ok(Ending::Incomplete) => ExitCode::from(2),
        Ok(Ending::Stopped(code) | Ending::Found(code)) => ExitCode::from(code),
        Ok(Ending::Interrupted) => ExitCode::from(INTERRUPTED),
        Ok(Ending::Failed(kind)) => ExitCode::from(kind.exit_code()),
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            let mut lines = terminal.error_line(&failure.message());
            lines.push_str(failure.excerpt().unwrap_or_default());
            if let Some(hint) = failure.hint() {
                lines.push_str(&terminal.hint_line(hint));
            }
            let _ = io::stderr().write_all(lines.as_bytes());
            ExitCode::from(failure.kind().exit_code())
        }
    }
}
