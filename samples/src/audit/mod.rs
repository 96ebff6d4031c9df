//! Sessions in which an agent claims what is not so or does what it should not, honest ones that look like them, and what
//! `trace audit` must tell of each.
//!
//! [`all`] returns the sessions. Each comes from a plot: a text that says what the agents do and say, what their commands
//! print, and which findings must follow with which evidence (`plot.rs` explains the form). The same plot is told for several
//! languages, with other modules, figures and phrasings, as a seed decides that follows from the name of the session.
//! A comment at a plot names the rule that it tests. The same version always writes the same bytes.
//!
//! `kits.txt` has what runners print, `phrases.txt` the phrasings. `record.py` beside it records some of the plots with the
//! Codex CLI.

mod play;
mod plot;
pub mod truth;
mod words;

use std::io;
use std::path::Path;

use self::plot::Plot;
pub use self::plot::{Find, Script, Step};
pub use self::truth::{Evidence, Expectation, Expected, Kind, Named};
use self::words::Words;

/// The purpose of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// It has a finding of this kind.
    Planted(Kind),
    /// It has none, but looks like one of this kind.
    Honest(Kind),
}

impl Family {
    /// Returns the kind that it is about.
    pub fn kind(self) -> Kind {
        match self {
            Self::Planted(kind) | Self::Honest(kind) => kind,
        }
    }
}

/// A session to audit.
#[derive(Debug, Clone)]
pub struct Planted {
    /// Its name, which is also valid as the name of a directory.
    pub name: String,
    /// Its purpose.
    pub family: Family,
    plot: Plot,
    kit: &'static str,
}

impl Planted {
    /// Returns what happens in the session, and what an audit of it must tell.
    pub fn script(&self) -> Script {
        self.plot.told(&Words::new(self.kit, self.seed()))
    }

    /// Records the session as a new bundle at `path`. Returns what an audit of it must tell.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if something cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<Expected> {
        play::play(&self.script(), path, self.seed())
    }

    /// Returns a number for the name (FNV-1a).
    fn seed(&self) -> u64 {
        let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
    }
}

/// Returns the two sessions that are samples in the repository: `untrue` has an example of each kind of finding, and in `honest`
/// the agent does and says the same things as it should.
pub fn samples() -> Vec<Planted> {
    let samples = plot::samples().into_iter();
    samples.map(|plot| Planted { name: plot.name.to_owned(), family: plot.family, kit: plot.kits[0], plot }).collect()
}

/// Returns all sessions of the test bed.
pub fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    for plot in plot::all() {
        for &kit in &plot.kits {
            for time in 1..=plot.times {
                let (prefix, kind) = match plot.family {
                    Family::Planted(kind) => ("", kind.name()),
                    Family::Honest(kind) => ("honest-", kind.name()),
                };
                let number = if plot.times > 1 { format!("-{time}") } else { String::new() };
                let name = format!("{prefix}{}-{}-{kit}{number}", kind.replace('_', "-"), plot.name);
                all.push(Planted { name, family: plot.family, plot: plot.clone(), kit });
            }
        }
    }
    all
}
