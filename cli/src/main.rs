//! The command line of `trace`: reads what the user wants, runs it, and turns the outcome into an exit code.

mod amount;
mod bundles;
mod check;
mod cli;
mod completions;
mod context;
mod critical_path;
mod demo;
mod diagnostics;
mod diff;
mod exit;
mod export;
mod failed;
mod failure;
mod graph;
mod grep;
mod ls;
mod man;
mod may_go_on;
mod output;
mod pack;
mod postmortem;
mod prices;
mod prune;
mod query;
mod redact;
mod reduce;
mod replace;
mod replay;
mod run;
mod sandbox_exec;
mod schema;
mod serve;
mod serving;
mod session;
mod show;
mod signals;
mod tail;
mod text;
mod timeline;
mod unpack;
mod view;
mod why;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};
use crate::failure::{Ending, Failure};
use crate::output::Terminal;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => return exit::answer(&answer),
    };
    let terminal = Terminal::new(cli.global.color);
    output::start_logging(cli.global.verbose, &terminal);
    let ending = catch_unwind(AssertUnwindSafe(|| run(cli.command, &terminal)))
        .unwrap_or_else(|payload| Err(Failure::panicked(payload.as_ref())));
    exit::finish(ending, &terminal)
}

fn run(command: Command, terminal: &Terminal) -> Result<Ending, Failure> {
    match command {
        Command::Reduce(args) => reduce::run(&args, terminal),
        Command::Show(args) => show::run(&args, terminal),
        Command::Postmortem(args) => postmortem::run(&args, terminal),
        Command::View(args) => view::run(&args, terminal),
        Command::Timeline(args) => timeline::run(&args, terminal),
        Command::CriticalPath(args) => critical_path::run(&args, terminal),
        Command::Graph(args) => graph::run(&args, terminal),
        Command::Query(args) => query::run(&args, terminal),
        Command::Why(args) => why::run(&args, terminal),
        Command::Grep(args) => grep::run(&args, terminal),
        Command::Diff(args) => diff::run(&args, terminal),
        Command::Tail(args) => tail::run(&args, terminal),
        Command::Context(args) => context::run(&args, terminal),
        Command::Export(args) => export::run(&args, terminal),
        Command::Ls(args) => ls::run(&args, terminal),
        Command::Check(args) => check::run(&args, terminal),
        Command::Prune(args) => prune::run(&args, terminal),
        Command::Pack(args) => pack::run(&args, terminal),
        Command::Unpack(args) => unpack::run(&args, terminal),
        Command::Redact(args) => redact::run(&args, terminal),
        Command::Serve(args) => serve::run(&args),
        Command::Run(args) => run::run(&args, terminal),
        Command::Replay(args) => replay::run(&args, terminal),
        Command::Demo(args) => demo::run(&args, terminal),
        Command::Schema(args) => schema::run(&args),
        Command::SandboxExec(args) => sandbox_exec::run(&args),
        Command::Completions(args) => completions::run(&args, Cli::command(), terminal),
        Command::Man(args) => man::run(&args, Cli::command(), terminal),
    }
}
