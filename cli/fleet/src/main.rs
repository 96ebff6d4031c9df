//! The command line of `trace-fleet`, which `trace fleet` starts.

mod commands;
mod failure;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{cluster, compact, fsck, ingest, push, query, read, show, status, tables, vacuum, view};
use crate::failure::Ending;

/// Questions across all sessions of a company: ingests bundles and sessions of agents into a lake of tables, and asks it with SQL
#[derive(Debug, Parser)]
#[command(name = "trace fleet", bin_name = "trace fleet", version, propagate_version = true)]
#[command(after_help = "\
A lake and a source are a path or a URL: file:///lakes/a, s3://bucket/lake, gs://bucket/lake, az://container/lake. \
Credentials and endpoints come from the variables of the environment that the tools of these clouds use \
(AWS_ACCESS_KEY_ID, AWS_REGION, AWS_ENDPOINT, GOOGLE_SERVICE_ACCOUNT, AZURE_STORAGE_ACCOUNT_NAME, ...).

Exit codes: 0 done; 1 something could not be read or written; 2 wrong usage; 3 an internal error; 130 interrupted.")]
struct Cli {
    /// Print progress messages to stderr; -vv prints more
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 901)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Push(push::PushArgs),
    Watch(push::WatchArgs),
    Ingest(ingest::IngestArgs),
    Query(query::QueryArgs),
    Questions(query::QuestionsArgs),
    Tables(tables::TablesArgs),
    Show(show::ShowArgs),
    Why(show::WhyArgs),
    View(view::ViewArgs),
    #[command(hide = true)]
    Read(read::ReadArgs),
    Status(status::StatusArgs),
    Fsck(fsck::FsckArgs),
    Compact(compact::CompactArgs),
    Vacuum(vacuum::VacuumArgs),
    Scheduler(cluster::SchedulerArgs),
    Executor(cluster::ExecutorArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => {
            let is_error = answer.use_stderr();
            let _ = answer.print();
            return ExitCode::from(if is_error { 2 } else { 0 });
        }
    };
    terminal::start_logging(cli.verbose);
    let ending = match cli.command {
        Command::Push(args) => push::push(&args),
        Command::Watch(args) => push::watch(&args),
        Command::Ingest(args) => ingest::run(args),
        Command::Query(args) => query::run(args),
        Command::Questions(args) => query::list(&args),
        Command::Tables(args) => tables::run(&args),
        Command::Show(args) => show::run("show", &args.address, &args.rest),
        Command::Why(args) => show::run("why", &args.address, &args.rest),
        Command::View(args) => view::run(&args),
        Command::Read(args) => read::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Fsck(args) => fsck::run(&args),
        Command::Compact(args) => compact::run(&args),
        Command::Vacuum(args) => vacuum::run(&args),
        Command::Scheduler(args) => cluster::scheduler(&args),
        Command::Executor(args) => cluster::executor(&args),
    };
    match ending {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Failed) => ExitCode::from(1),
        Ok(Ending::Code(code)) => ExitCode::from(code),
        Ok(Ending::Interrupted) => ExitCode::from(130),
        Err(failure) => failure.show(),
    }
}
