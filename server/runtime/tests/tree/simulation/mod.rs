//! A simulator of trees of agents: a random generator decides what models do, what fails and what users do, and invariants
//! must hold in every case.
//!
//! Time is simulated and only the seed is random, so a seed that breaks an invariant breaks it every time. The failing
//! story is printed. To replay it, set [`SEED`] to its number and run `the_seed_at_hand`. Some seeds differ from run to run;
//! those that break an invariant are added to [`KEPT_SEEDS`], and every run plays them. `TRACE_SEEDS=0..10000` plays other
//! seeds than the default ones.

mod chance;
mod keeper;
mod laws;
mod play;
mod script;
mod store;

use std::io::Write as _;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use self::play::{Figures, Played, play};

/// The seed that `the_seed_at_hand` plays.
const SEED: u64 = 0;

/// The default seeds.
const FEW: Range<u64> = 0..200;

/// Number of seeds that differ from run to run.
const FRESH: u64 = 20;

/// Seeds that broke an invariant once, one per line.
const KEPT_SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tree/simulation/seeds.txt");

/// One of this many seeds is recorded.
const RECORDED: u64 = 20;

/// One of this many recorded seeds is also reduced by the peer.
const PEERS: u64 = 5;

#[test]
fn laws_hold_whatever_happens() {
    let asked = std::env::var("TRACE_SEEDS").ok().map(|text| {
        let range = text.split_once("..").and_then(|(from, to)| Some(from.parse::<u64>().ok()?..to.parse().ok()?));
        range.expect("TRACE_SEEDS is a range such as 0..10000")
    });
    let seeds: Vec<u64> = asked.map_or_else(seeds, Iterator::collect);
    let (next, sum) = (AtomicUsize::new(0), Mutex::new(Sum::default()));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let played = with_bundles(*seed);
                    sum.lock().unwrap_or_else(PoisonError::into_inner).add(&played);
                }
            });
        }
    });
    let sum = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
    say(&format!("{} seeds in {:.1} s: {:?}", sum.seeds, began.elapsed().as_secs_f64(), sum.figures));
    keep(&sum.broken);
    assert_eq!(sum.broken, Vec::<u64>::new(), "seeds that break laws; their stories are above");
    let Figures { deaths, agents, mail, made_room, .. } = sum.figures;
    assert!(deaths > 0 && agents > 0 && mail > 0 && made_room > 0, "{:?}", sum.figures);
}

/// Returns the kept seeds, the default ones, and some that no run has played before.
fn seeds() -> Vec<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set").as_secs();
    // Two runs do not share a seed, unless they begin in the same second.
    let fresh = now * FRESH..(now + 1) * FRESH;
    kept_seeds().into_iter().chain(FEW).chain(fresh).collect()
}

fn kept_seeds() -> Vec<u64> {
    let text = std::fs::read_to_string(KEPT_SEEDS).expect("it is in the repository");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.trim().parse().expect("a number")).collect()
}

/// Adds seeds to the file of those that every run plays.
fn keep(broken: &[u64]) {
    let known = kept_seeds();
    let new: String = broken.iter().filter(|seed| !known.contains(seed)).map(|seed| format!("{seed}\n")).collect();
    let file = std::fs::File::options().append(true).open(KEPT_SEEDS);
    if let Err(error) = file.and_then(|mut file| file.write_all(new.as_bytes())) {
        say(&format!("cannot add the seeds to {KEPT_SEEDS}: {error}"));
    }
}

#[test]
fn the_seed_at_hand() {
    let played = with_bundles(SEED);
    assert!(played.broken.is_empty(), "{}", tell(&played));
}

#[test]
fn a_seed_tells_the_same_story_each_time() {
    let mut lines = 0;
    for seed in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] {
        let (first, second) = (play(seed, None), play(seed, None));
        lines += first.story.len();
        for (line, (one, other)) in first.story.iter().zip(&second.story).enumerate() {
            assert_eq!(one, other, "seed {seed}, line {line}");
        }
        assert_eq!(first.story.len(), second.story.len());
    }
    assert!(lines > 500, "{lines}");
}

/// Summary of all seeds.
#[derive(Default)]
struct Sum {
    seeds: u64,
    broken: Vec<u64>,
    figures: Figures,
}

impl Sum {
    fn add(&mut self, played: &Played) {
        let Figures { lives, deaths, agents, turns, mail, calls, made_room, longest_wait } = played.figures;
        self.seeds += 1;
        self.figures.lives += lives;
        self.figures.deaths += deaths;
        self.figures.agents += agents;
        self.figures.turns += turns;
        self.figures.mail += mail;
        self.figures.calls += calls;
        self.figures.made_room += made_room;
        self.figures.longest_wait = self.figures.longest_wait.max(longest_wait);
        if !played.broken.is_empty() {
            if self.broken.len() < 3 {
                say(&tell(played));
            } else {
                say(&format!("seed {}: {:?}", played.seed, played.broken));
            }
            self.broken.push(played.seed);
        }
    }
}

/// Plays a seed, and records it if it is one of those that are recorded.
fn with_bundles(seed: u64) -> Played {
    if !seed.is_multiple_of(RECORDED) {
        return play(seed, None);
    }
    let directory = tempfile::tempdir().expect("a folder");
    let mut played = play(seed, Some(directory.path()));
    if seed.is_multiple_of(RECORDED * PEERS) && played.broken.is_empty() {
        for life in &played.bundles {
            let (ours, _) = crate::bench::state_of(&life.bundle).expect("it was taken before");
            let peers = crate::bench::reduce_by_peer(&life.bundle);
            if peers.is_some_and(|peers| peers != ours) {
                played.broken.push(format!("the peer sees another graph of life {}", life.number));
            }
        }
    }
    played
}

fn tell(played: &Played) -> String {
    format!("seed {}: {:?}\n{}\n", played.seed, played.broken, played.story.join("\n"))
}

#[expect(clippy::print_stderr, reason = "a seed that breaks a law tells its story")]
fn say(text: &str) {
    eprintln!("{text}");
}
