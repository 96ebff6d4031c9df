//! Records the sample `team` anew. It is a recording of `trace demo --team` in which the path of the folder is replaced by
//! that of an invented project. The prompt with the script is written beside it to `team.txt`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use clap::Parser;
use serde_json::Value;
use trace_recorder::bundle::is_bundle;
use trace_recorder::format::PAYLOADS_DIR;
use trace_recorder::pack::{MAX_UNPACKED_BYTES, PackedBundle, unpack};
use trace_samples::bench::measure;

/// The folder that replaces the real one in the recording.
const FOLDER: &str = "/home/dev/sums";

/// Records the sample `team` anew. Ids, times and the order of parallel events differ in every run.
#[derive(Debug, Parser)]
struct Arguments {
    /// The program to record with
    #[arg(long, default_value = "trace")]
    trace: PathBuf,
    /// Directory of the samples. An existing sample `team` is replaced.
    #[arg(default_value = "samples")]
    directory: PathBuf,
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> anyhow::Result<()> {
    let Arguments { trace, directory } = Arguments::parse();
    let making = tempfile::tempdir().context("there is no folder for the session")?;
    let session = making.path().join("session");
    let output = Command::new(&trace).args(["demo", "--team", "-o"]).arg(&session).output();
    let output = output.with_context(|| format!("cannot run {}", trace.display()))?;
    ensure!(output.status.success(), "the demo failed:\n{}", String::from_utf8_lossy(&output.stderr));
    let traces = session.join("home/traces");
    let mut bundles = fs::read_dir(&traces)?
        .map(|entry| entry.map(|entry| entry.path()))
        .filter(|path| path.as_ref().map_or(true, |path| is_bundle(path)));
    let recorded = bundles.next().with_context(|| format!("nothing was recorded in {}", traces.display()))??;
    // The sample is a directory, as the Codex CLI records sessions.
    let bundle = session.join("bundle");
    fs::create_dir(&bundle)?;
    unpack(&PackedBundle::open(&recorded)?, &bundle, MAX_UNPACKED_BYTES)?;

    let place = directory.join("team");
    if place.exists() {
        ensure!(is_bundle(&place), "{} is no bundle; it stays as it is", place.display());
        fs::remove_dir_all(&place).with_context(|| format!("cannot remove {}", place.display()))?;
    }
    let work = session.join("work");
    let work = work.to_str().context("the folder for temporary files has a name that is no text")?;
    for folder in ["", PAYLOADS_DIR] {
        fs::create_dir_all(place.join(folder)).with_context(|| format!("cannot create {}", place.display()))?;
        for entry in fs::read_dir(bundle.join(folder))? {
            copy(&entry?.path(), &place.join(folder), work)?;
        }
    }
    let prompt = prompt(&place)?;
    fs::write(directory.join("team.txt"), prompt + "\n").context("the prompt cannot be written")?;
    let size = measure(&place)?;
    println!("{} ({} files, {} bytes)", place.display(), size.files, size.bytes);
    Ok(())
}

/// Returns the prompt of a bundle: the message of the user in the first request.
fn prompt(bundle: &Path) -> anyhow::Result<String> {
    for number in 1.. {
        let payload = bundle.join(PAYLOADS_DIR).join(format!("{number}.json"));
        let text = fs::read_to_string(&payload).context("no request has the prompt")?;
        let payload: Value =
            serde_json::from_str(&text).with_context(|| format!("cannot read {}", payload.display()))?;
        let items = payload["input"].as_array().into_iter().flatten().filter(|item| item["role"] == "user");
        let mut parts =
            items.filter_map(|item| item["content"].as_array()).flatten().filter_map(|part| part["text"].as_str());
        if let Some(prompt) = parts.find(|text| text.contains("\nRUN [")) {
            return Ok(prompt.to_owned());
        }
    }
    unreachable!("the numbers do not end")
}

/// Copies a file of a bundle, unless it is the state file, which is not part of the recording.
fn copy(file: &Path, folder: &Path, work: &str) -> anyhow::Result<()> {
    let name = file.file_name().context("a file has a name")?;
    if !file.is_file() || name == "state.json" {
        return Ok(());
    }
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    fs::write(folder.join(name), text.replace(work, FOLDER))
        .with_context(|| format!("cannot write to {}", folder.display()))
}
