//! Generates sessions of any size for measurements.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use trace_recorder::format::SchemaVersion;

use crate::session::{Agent, Child, Command, Session, Setup};
use crate::texts::{Texts, prose};

/// Largest number of agents that [`generate`] puts into one session.
pub const MAX_AGENTS: usize = 100_000;

/// Number of steps between two reasoning items of an agent.
const STEPS_PER_THOUGHT: usize = 16;

/// The size of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Number of requests of each agent that are answered with commands, one request after the other. Each repeats the
    /// whole history, so the size of a session grows with the square of this number.
    pub steps: usize,
    /// Number of commands in each of these responses. They run in parallel.
    pub commands: usize,
    /// Number of children of every agent, except in the last generation.
    pub width: usize,
    /// Number of generations of children.
    pub depth: usize,
    /// Number of bytes that every command prints.
    pub output_bytes: usize,
    /// What every request contains besides the history.
    pub burden: Burden,
    /// Seed of the ids.
    pub seed: u64,
    /// Schema of the bundle.
    pub schema: SchemaVersion,
}

/// Instructions and tools, which every request repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Burden {
    /// As large as those of the Codex CLI, so that measurements are realistic.
    Real,
    /// Minimal: many agents and calls in few bytes, for measurements of the graph alone.
    Light,
}

impl Shape {
    /// Returns the shape of one agent that runs `steps` commands with short outputs. With 800 steps the bundle is about as
    /// large as one that the Codex CLI recorded of such a session (218 MB).
    pub fn steps(steps: usize) -> Self {
        Self {
            steps,
            commands: 1,
            width: 0,
            depth: 0,
            output_bytes: 32,
            burden: Burden::Real,
            seed: 1,
            schema: SchemaVersion::CURRENT,
        }
    }

    /// Returns the shape of one agent with `width` children, each with `calls` tool calls, in as few bytes as possible. 500
    /// children with 40 calls each make 182 MB.
    pub fn fleet(width: usize, calls: usize) -> Self {
        let commands = 4;
        Self { commands, burden: Burden::Light, ..Self::tree(width, 1, calls.div_ceil(commands)) }
    }

    /// Returns the shape of a tree of agents that run `steps` commands each.
    pub fn tree(width: usize, depth: usize, steps: usize) -> Self {
        Self { width, depth, ..Self::steps(steps) }
    }

    /// Returns the number of agents, or `None` if it exceeds `usize`.
    pub fn agents(&self) -> Option<usize> {
        let mut generation: usize = 1;
        let mut agents = generation;
        // Without children all further generations are empty, whatever the depth.
        for _ in 0..if self.width == 0 { 0 } else { self.depth } {
            generation = generation.checked_mul(self.width)?;
            agents = agents.checked_add(generation)?;
        }
        Some(agents)
    }
}

/// Records a session of the given shape at `path`.
///
/// All agents work at the same time, so the events of different threads alternate as in real recordings.
///
/// # Errors
///
/// Returns an I/O error if the shape has more than [`MAX_AGENTS`] agents, or if a file cannot be written.
pub fn generate(path: &Path, shape: &Shape) -> io::Result<()> {
    if shape.agents().is_none_or(|agents| agents > MAX_AGENTS) {
        let message = format!("more than {MAX_AGENTS} agents in one session");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let setup = Setup {
        seed: shape.seed,
        started_at_unix_ms: 1_772_443_800_000,
        schema: shape.schema,
        cwd: "/home/dev/project".to_owned(),
        model: "example-large".to_owned(),
        provider: "example".to_owned(),
        texts: match shape.burden {
            Burden::Real => Texts::full(),
            Burden::Light => Texts::short(),
        },
    };
    let (mut session, root) = Session::create(path, setup)?;
    session.prompt(root, "Work through the list in docs/plan.md, one entry after the other.")?;
    let generations = spawn_tree(&mut session, root, shape)?;
    let agents: Vec<Agent> = generations.concat();
    for step in 0..shape.steps {
        if step % STEPS_PER_THOUGHT == STEPS_PER_THOUGHT - 1 {
            agents.iter().for_each(|&agent| session.think(agent, &prose(step, 90)));
        }
        let commands: Vec<Vec<Command>> = (0..agents.len())
            .map(|agent| (0..shape.commands).map(|nth| command(shape, step * shape.commands + nth, agent)).collect())
            .collect();
        let steps: Vec<(Agent, &[Command])> =
            agents.iter().zip(&commands).map(|(&agent, commands)| (agent, commands.as_slice())).collect();
        session.run_together(&steps)?;
    }
    finish_tree(&mut session, &generations)?;
    session.end()
}

/// Starts all agents. Returns them by generation. Within a generation, the children of one agent are adjacent and in order.
fn spawn_tree(session: &mut Session, root: Agent, shape: &Shape) -> io::Result<Vec<Vec<Agent>>> {
    let mut generations = vec![vec![root]];
    if shape.width == 0 {
        return Ok(generations);
    }
    for _ in 0..shape.depth {
        let mut next = Vec::new();
        for &parent in generations.last().into_iter().flatten() {
            let children: Vec<Child> = (0..shape.width)
                .map(|index| Child {
                    task_name: format!("part_{index}"),
                    nickname: format!("Worker {index}"),
                    model: None,
                    task: format!("Entry {index} of the list. {}", prose(index, 200)),
                })
                .collect();
            next.extend(session.spawn(parent, &children)?);
        }
        generations.push(next);
    }
    Ok(generations)
}

/// Ends the turns of all agents, the youngest generation first, while their parents wait.
fn finish_tree(session: &mut Session, generations: &[Vec<Agent>]) -> io::Result<()> {
    let parents = &generations[..generations.len() - 1];
    let mut waits: Vec<Vec<_>> = Vec::new();
    for generation in parents {
        waits.push(generation.iter().map(|&agent| session.begin_wait(agent, 60_000)).collect::<io::Result<_>>()?);
    }
    for (index, generation) in generations.iter().enumerate().rev() {
        for &agent in generation {
            session.answer(agent, &prose(index, 400))?;
        }
        let waiting = index.checked_sub(1).and_then(|above| waits.get_mut(above));
        for wait in waiting.into_iter().flat_map(std::mem::take) {
            session.end_wait(wait)?;
        }
    }
    Ok(())
}

fn command(shape: &Shape, step: usize, agent: usize) -> Command {
    let line = format!("sed -n '{},{}p' src/part_{:03}.rs", 20 * step + 1, 20 * step + 20, agent);
    let mut output = String::new();
    if shape.output_bytes > 0 {
        output = prose(step * 7 + agent, shape.output_bytes - 1);
        output.push('\n');
    }
    Command::new(line, output).takes(30 + i64::try_from(step % 7).unwrap_or_default() * 11)
}

/// Number and size of the files of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Number of files.
    pub files: u64,
    /// Size of all files in bytes.
    pub bytes: u64,
}

/// Measures the files in and below the directory at `path`.
///
/// # Errors
///
/// Returns an I/O error if a directory cannot be listed.
pub fn measure(path: &Path) -> io::Result<Size> {
    let mut size = Size::default();
    visit_files(path, &mut |_, metadata| {
        size.files += 1;
        size.bytes += metadata.len();
        Ok(())
    })?;
    Ok(size)
}

/// Reads all files in and below the directory at `path`, like `cat` with its output discarded. Returns the number of bytes.
/// No program that reads every file can be much faster.
///
/// # Errors
///
/// Returns an I/O error if a directory or file cannot be read.
pub fn read_all(path: &Path) -> io::Result<u64> {
    let mut buffer = vec![0; CAT_BUFFER_BYTES];
    let mut bytes = 0;
    visit_files(path, &mut |path, _| {
        let mut file = File::open(path)?;
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                count => bytes += count as u64,
            }
        }
    })?;
    Ok(bytes)
}

/// Size of the buffer that `cat` of the GNU core utilities uses.
const CAT_BUFFER_BYTES: usize = 128 << 10;

fn visit_files(path: &Path, visit: &mut impl FnMut(&Path, &fs::Metadata) -> io::Result<()>) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_dir() {
            visit_files(&entry.path(), visit)?;
        } else {
            visit(&entry.path(), &metadata)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_counted_before_they_are_made() {
        assert_eq!(Shape::steps(5).agents(), Some(1));
        assert_eq!(Shape::tree(0, usize::MAX, 1).agents(), Some(1));
        assert_eq!(Shape::tree(20, 2, 1).agents(), Some(421));
        assert_eq!(Shape::tree(2, 100, 1).agents(), None);
        let path = Path::new("never-written");
        let error = generate(path, &Shape::tree(1, MAX_AGENTS, 1)).expect_err("one agent too many");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(!path.exists());
    }

    #[test]
    fn reading_sees_every_byte() {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join("bundle");
        generate(&path, &Shape::tree(2, 1, 1)).expect("records");
        let size = measure(&path).expect("lists");
        assert_eq!(read_all(&path).expect("reads"), size.bytes);
        let payloads = fs::read_dir(path.join("payloads")).expect("lists").count() as u64;
        assert_eq!(size.files, payloads + 2);
    }
}
