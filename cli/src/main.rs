//! The command line of `trace`: parses the arguments, runs the command, and maps its result to an exit code.

mod address;
mod argument;
mod bundles;
mod cache;
mod cli;
mod commands;
mod completion;
mod foreign;
mod named;
mod period;
mod prices;
mod prompt;
mod recorded;
mod remote;
mod replace;
mod serving;
mod session;
mod signals;
mod stored;
mod turn;
mod ui;
mod unfinished;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;

fn main() -> ExitCode {
    match completion::answer(Cli::command) {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(2);
        }
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => return ui::exit::answer(&answer),
    };
    let terminal = Terminal::new(cli.global.color);
    ui::output::start_logging(cli.global.verbose, &terminal);
    let ending = catch_unwind(AssertUnwindSafe(|| run(cli.command, &terminal)))
        .unwrap_or_else(|payload| Err(Failure::panicked(payload.as_ref())));
    ui::exit::finish(ending, &terminal)
}

fn run(command: Command, terminal: &Terminal) -> Result<Ending, Failure> {
    match command {
        Command::Reduce(args) => commands::reduce::run(&args, terminal),
        Command::Show(args) => commands::show::run(&args, terminal),
        Command::Audit(args) => commands::audit::run(&args, terminal),
        Command::Postmortem(args) => commands::postmortem::run(&args, terminal),
        Command::View(args) => commands::view::run(&args, terminal),
        Command::Timeline(args) => commands::timeline::run(&args, terminal),
        Command::CriticalPath(args) => commands::critical_path::run(&args, terminal),
        Command::Graph(args) => commands::graph::run(&args, terminal),
        Command::Query(args) => commands::query::run(&args, terminal),
        Command::Fleet(args) => commands::fleet::run(&args),
        Command::Why(args) => commands::why::run(&args, terminal),
        Command::Grep(args) => commands::grep::run(&args, terminal),
        Command::Diff(args) => commands::diff::run(&args, terminal),
        Command::Tail(args) => commands::tail::run(&args, terminal),
        Command::Context(args) => commands::context::run(&args, terminal),
        Command::Export(args) => commands::export::run(&args, terminal),
        Command::Import(args) => commands::import::run(&args, terminal),
        Command::Costs(args) => commands::costs::run(&args, terminal),
        Command::Ls(args) => commands::ls::run(&args, terminal),
        Command::Check(args) => commands::check::run(&args, terminal),
        Command::Prune(args) => commands::prune::run(&args, terminal),
        Command::Pack(args) => commands::pack::run(&args, terminal),
        Command::Unpack(args) => commands::unpack::run(&args, terminal),
        Command::Redact(args) => commands::redact::run(&args, terminal),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Mcp(args) => commands::mcp::run(args, terminal),
        Command::Relay(args) => commands::relay::run(&args),
        Command::Run(args) => commands::run::run(&args, terminal),
        Command::Exec(args) => commands::exec::run(*args, terminal),
        Command::Replay(args) => commands::replay::run(&args, terminal),
        Command::Demo(args) => commands::demo::run(&args, terminal),
        Command::Schema(args) => commands::schema::run(&args),
        Command::SandboxExec(args) => commands::sandbox_exec::run(&args),
        Command::Completions(args) => commands::completions::run(&args, Cli::command(), terminal),
        Command::Man(args) => commands::man::run(&args, Cli::command(), terminal),
    }
}
