//! The options of `trace exec`, which stand before and behind the name of its subcommand.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trace_protocol::settings::{CyberAccessProgram, SandboxMode};

use crate::serving::ServingArgs;

/// Options of `trace exec` and of its subcommands.
#[derive(Debug, Args)]
pub(super) struct ExecOptions {
    /// Print events as JSON, one per line
    #[arg(long, visible_alias = "experimental-json")]
    pub(super) json: bool,
    /// Work in this folder
    #[arg(short = 'C', long, alias = "cwd", value_name = "DIR")]
    pub(super) cd: Option<PathBuf>,
    /// What commands may write to: read-only, workspace-write or danger-full-access [default: read-only]
    #[arg(short = 's', long, value_name = "MODE", hide_possible_values = true)]
    pub(super) sandbox: Option<Sandbox>,
    /// Let commands write to this folder, too, if the sandbox is workspace-write; may be given several times
    #[arg(long, value_name = "DIR")]
    pub(super) add_dir: Vec<PathBuf>,
    /// Run commands without a sandbox
    #[arg(long, alias = "yolo", conflicts_with_all = ["sandbox", "approve_for_me"])]
    pub(super) dangerously_bypass_approvals_and_sandbox: bool,
    /// Use the sandbox workspace-write. There is no automatic review here: what needs an approval is refused
    #[arg(long, conflicts_with = "sandbox")]
    pub(super) approve_for_me: bool,
    /// Run outside of Git repositories, too
    #[arg(long)]
    pub(super) skip_git_repo_check: bool,
    /// Add this image to the prompt; may be given several times
    #[arg(short, long = "image", value_name = "FILE")]
    pub(super) image: Vec<PathBuf>,
    /// Make the model answer with JSON that fits the JSON Schema in this file
    #[arg(long, value_name = "FILE")]
    pub(super) output_schema: Option<PathBuf>,
    /// Write the last message of the agent to this file
    #[arg(short, long, value_name = "FILE")]
    pub(super) output_last_message: Option<PathBuf>,
    /// Neither store the thread nor record the session
    #[arg(long)]
    pub(super) ephemeral: bool,
    /// Say what the thread is for; kept with a new thread
    #[arg(long, value_name = "SOURCE")]
    pub(super) thread_source: Option<String>,
    /// Name the provider's access program for work on security: standard, daybreak_blue or daybreak_red
    #[arg(long, value_name = "PROGRAM", hide_possible_values = true)]
    pub(super) cyber_access_program: Option<CyberAccess>,
    /// Use the settings of the file PROFILE.config.toml in the server home above those of config.toml
    #[arg(short, long, value_name = "PROFILE")]
    pub(super) profile: Option<String>,
    /// Do not read config.toml
    #[arg(long)]
    pub(super) ignore_user_config: bool,
    /// Fail if the configuration has a key that is not known
    #[arg(long)]
    pub(super) strict_config: bool,
    /// Switch a feature on, like -c features.FEATURE=true
    #[arg(long, value_name = "FEATURE")]
    pub(super) enable: Vec<String>,
    /// Switch a feature off, like -c features.FEATURE=false
    #[arg(long, value_name = "FEATURE")]
    pub(super) disable: Vec<String>,
    #[command(flatten)]
    pub(super) serving: ServingArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Sandbox {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum CyberAccess {
    Standard,
    #[value(name = "daybreak_blue")]
    DaybreakBlue,
    #[value(name = "daybreak_red")]
    DaybreakRed,
}

impl From<CyberAccess> for CyberAccessProgram {
    fn from(program: CyberAccess) -> Self {
        match program {
            CyberAccess::Standard => Self::Standard,
            CyberAccess::DaybreakBlue => Self::DaybreakBlue,
            CyberAccess::DaybreakRed => Self::DaybreakRed,
        }
    }
}

impl ExecOptions {
    /// Returns these options with those behind a subcommand added. Options that take one value are the latter if both are
    /// given.
    pub(super) fn with(self, later: Self) -> Self {
        fn both<T>(first: Vec<T>, later: Vec<T>) -> Vec<T> {
            first.into_iter().chain(later).collect()
        }
        Self {
            json: self.json || later.json,
            cd: later.cd.or(self.cd),
            sandbox: later.sandbox.or(self.sandbox),
            add_dir: both(self.add_dir, later.add_dir),
            dangerously_bypass_approvals_and_sandbox: self.dangerously_bypass_approvals_and_sandbox
                || later.dangerously_bypass_approvals_and_sandbox,
            approve_for_me: self.approve_for_me || later.approve_for_me,
            skip_git_repo_check: self.skip_git_repo_check || later.skip_git_repo_check,
            image: both(self.image, later.image),
            output_schema: later.output_schema.or(self.output_schema),
            output_last_message: later.output_last_message.or(self.output_last_message),
            ephemeral: self.ephemeral || later.ephemeral,
            thread_source: later.thread_source.or(self.thread_source),
            cyber_access_program: later.cyber_access_program.or(self.cyber_access_program),
            profile: later.profile.or(self.profile),
            ignore_user_config: self.ignore_user_config || later.ignore_user_config,
            strict_config: self.strict_config || later.strict_config,
            enable: both(self.enable, later.enable),
            disable: both(self.disable, later.disable),
            serving: self.serving.with(later.serving),
        }
    }

    /// Returns the sandbox mode that the options ask for.
    pub(super) fn sandbox(&self) -> Option<SandboxMode> {
        if self.dangerously_bypass_approvals_and_sandbox {
            return Some(SandboxMode::DangerFullAccess);
        }
        if self.approve_for_me {
            return Some(SandboxMode::WorkspaceWrite);
        }
        self.sandbox.map(|sandbox| match sandbox {
            Sandbox::ReadOnly => SandboxMode::ReadOnly,
            Sandbox::WorkspaceWrite => SandboxMode::WorkspaceWrite,
            Sandbox::DangerFullAccess => SandboxMode::DangerFullAccess,
        })
    }

    /// Returns the settings that `--enable` and `--disable` stand for, as after `-c`.
    pub(super) fn features(&self) -> Vec<String> {
        let enabled = self.enable.iter().map(|feature| format!("features.{feature}=true"));
        let disabled = self.disable.iter().map(|feature| format!("features.{feature}=false"));
        enabled.chain(disabled).collect()
    }
}
