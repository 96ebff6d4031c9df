//! How a run ends: what is said last, and the exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::Terminal;

/// Exit code of what the user stopped: that of a process that Ctrl-C ended, as shells have it.
const INTERRUPTED: u8 = 130;

/// Prints what the command line parser has to say, which is help or an error.
pub(crate) fn answer(answer: &clap::Error) -> ExitCode {
    // When nobody reads the help there is nobody to tell about it either.
    let _ = answer.print();
    if answer.use_stderr() { ExitCode::from(Kind::Usage.exit_code()) } else { ExitCode::SUCCESS }
}

/// Prints the failure that ended a run, if one did, and returns the exit code.
pub(crate) fn finish(ending: Result<Ending, Failure>, terminal: &Terminal) -> ExitCode {
    match ending {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::NothingFound) => ExitCode::from(1),
        Ok(Ending::Incomplete) => ExitCode::from(2),
        Ok(Ending::Stopped(code)) => ExitCode::from(code),
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
