//! Help, completions and manual pages.

use insta::assert_snapshot;

use crate::support::Place;

#[test]
fn help_teaches() {
    let place = Place::new();
    assert_snapshot!(place.run(&["--help"]), @r"
    Runs coding agents, records their sessions, and explains them.

    It works on the sessions that you already have, as Claude Code, the Codex CLI, Gemini CLI and
    opencode stored them: `trace ls` lists them, and every command that reads a session takes one by its
    file, the beginning of its id, or @last.

    A session leaves a bundle: a directory with manifest.json, trace.jsonl and payloads/, recorded by
    the Codex CLI (with CODEX_ROLLOUT_TRACE_ROOT set) or in the same format, or one small file with the
    same content, NAME.trace, as `trace` itself records and packs them. Every command reads both, also
    while they are recorded. `trace` lists bundles, shows what happened in them, answers questions about
    them and reduces them to the graph in state.json. Only `check --repair`, `prune --delete` and `pack
    --delete-source` change what was recorded.

    Usage: trace [OPTIONS] <COMMAND>

    Commands:
      demo           Runs, records and shows a small session, without an API key
      run            Runs one turn of an agent and records it
      exec           Runs one turn without asking anybody, for scripts and for the Codex SDK
      serve          Serves agents to clients, and records what they do
      mcp            Answers questions about sessions, and runs agents, over the Model Context Protocol
      relay          Connects clients to servers that dial out
      replay         Replays a recorded session, and shows where it diverges
      ls             Lists bundles, and sessions that other agents stored, newest first
      costs          Adds up the tokens, and the money, of all sessions of all agents
      show           Shows what happened in a session, and what went wrong
      tail           Follows a session while it is recorded, one line per event of interest
      postmortem     Explains why turns failed: the root cause, and the path from the symptom back to it
      audit          Holds what agents said and did against what the recording shows
      why            Shows where a text came from, how it travelled, and what followed from it
      grep           Searches what models saw and tools printed for a regular expression
      context        Shows what the model saw in one request, item by item, with origins and token
                     counts
      timeline       Shows what each agent did when, and what it cost
      critical-path  Shows the chain of work that determined how long a session took
      diff           Compares two sessions of the same task: the first divergence, all differences, and
                     the costs
      query          Runs an SQL query over one or more sessions
      fleet          Asks all sessions of a company: a lake of tables in object storage, and SQL
      view           Shows a session as a page in the browser
      graph          Draws a session: agents, turns, calls, or why it failed
      export         Writes a session as a trace for Perfetto, Chrome or OpenTelemetry, or in ATIF
      import         Makes bundles of sessions that other agents stored
      reduce         Reduces bundles to the graph of their session, state.json
      check          Checks bundles against their format, and repairs them
      pack           Packs bundles into one file each, many times smaller
      unpack         Restores the directories of packed bundles
      redact         Copies a bundle without its secrets, or checks whether it has any
      prune          Deletes old bundles, or the oldest ones above a total size; a dry run without
                     --delete
      schema         Writes the schema of the app-server protocol
      completions    Writes a completion script for a shell to stdout
      man            Writes a manual page to stdout

    Options:
          --color <WHEN>
              Use colours: auto (on a terminal, unless NO_COLOR is set), always or never

      -v, --verbose...
              Print progress messages to stderr; -vv prints more

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Examples:
      trace demo                       record and show a small session; needs no API key
      trace run PROMPT                 run one turn of an agent, and record it
      trace exec --json PROMPT         the same for programs, with the events of the Codex SDK
      trace serve --listen URL         serve agents to Codex clients, and record every session
      trace mcp                        answer questions of other agents about sessions, over MCP
      trace ls                         list your sessions, those of other agents included
      trace costs --by month,model     add up the tokens of all sessions of all agents
      trace show traces/trace-1        show what happened in a session
      trace tail traces                follow the newest session while it runs
      trace postmortem @last           find out why turns failed, across agents
      trace audit @last                hold what agents said and did against the evidence
      trace why B --text TEXT          find where a text came from, and what followed from it
      trace grep PATTERN traces        search what models saw and tools printed
      trace context B --last           show what the model saw in its last request
      trace timeline B                 show who did what when, and what it cost
      trace diff A B                   compare two sessions of the same task
      trace query B @slowest-tools     run SQL over sessions: a named query, or your own
      trace view B --open              open the session as a page in the browser
      trace graph B -o agents.svg      draw the session
      trace export B                   export it to ui.perfetto.dev, Chrome or OpenTelemetry
      trace import SESSION -o DIR      make a bundle of a session that another agent stored
      trace reduce traces              write state.json into every bundle below traces
      trace redact B -o COPY           copy a bundle without its secrets

    Exit codes:
      0  success, also for a damaged bundle that could be reduced
      1  a bundle could not be read, was refused by --strict, has errors (check), or its output could
      not be written
      2  the command line is wrong
      3  an internal error: a bug in trace
    ");
    assert_snapshot!(place.run(&["check", "--help"]), @r"
    Checks bundles against their format, and repairs them

    Usage: trace check [OPTIONS] <BUNDLE>...

    Arguments:
      <BUNDLE>...  Bundles or sessions of other agents: paths, ids, @last; or folders with such below
                   them

    Options:
          --session <ID>  Only this session of a store that has several, such as opencode.db; repeatable
          --repair        Repair what can be repaired
          --dry-run       With --repair: only print what would be changed
          --json          Write a JSON array, described below
      -q, --quiet         Print nothing about bundles without errors, and only the errors of other
                          bundles
          --color <WHEN>  Use colours: auto (on a terminal, unless NO_COLOR is set), always or never
      -v, --verbose...    Print progress messages to stderr; -vv prints more
      -h, --help          Print help

    Examples:
      trace check traces/trace-1
      trace check traces                              every bundle below traces
      trace check traces/trace-1 --repair --dry-run   what a repair would change
      trace check traces/trace-1 --repair
      trace check traces --json | jq '.[] | select(.errors > 0) | .bundle'

    Every line of the log and every payload is read once; no graph is made. An error breaks a rule of
    the format, and something is lost. A warning is something that recorders do not write. A note is
    worth knowing. docs/check.md lists the codes.

    --repair cuts off a torn tail, removes lines that are not events, corrects numbers and references,
    and replaces a lost payload by the smallest document that readers accept; an event says what is
    missing. Everything that it changes is first copied to before-repair-1 (or the next number) in the
    bundle. It refuses a bundle that is being recorded, and a damaged bundle without an end that was
    written to within the last ten minutes. It does not change a sound bundle.

    --json writes an array of objects with bundle, errors, warnings, notes, checks (check, looked_at,
    errors, warnings, notes), findings (code, severity, line, seq, path, message), left_out (code,
    count), repair (dry_run, changes, changes_left_out, backup; null without --repair) and problem (why
    the bundle could not be checked or repaired). With --repair, the findings are those after the
    repair.

    Exit codes: 0 no errors (with --repair: none left); 1 a bundle has errors, or could not be read or
    repaired; 2 wrong usage; 3 an internal error.
    ");
    assert_snapshot!(place.run(&["prune", "--help"]), @r"
    Deletes old bundles, or the oldest ones above a total size; a dry run without --delete

    Usage: trace prune [OPTIONS] [ROOT]

    Arguments:
      [ROOT]  The folder [default: $TRACE_ROOT, then $CODEX_ROLLOUT_TRACE_ROOT, then traces in the
              server home]

    Options:
          --keep-days <DAYS>  Select bundles that were last used longer ago than this
          --max-size <SIZE>   Select the oldest bundles, until the others take at most this much space
          --delete            Delete the selected bundles; without it, they are only listed
          --force             Also delete bundles that contain files which belong to no bundle, or whose
                              log has no end
          --json              Write a JSON object, described below
          --color <WHEN>      Use colours: auto (on a terminal, unless NO_COLOR is set), always or never
      -v, --verbose...        Print progress messages to stderr; -vv prints more
      -h, --help              Print help

    Examples:
      trace prune traces --keep-days 30                    what is older than 30 days
      trace prune traces --max-size 2G                     the oldest, until the rest takes 2 GB
      trace prune traces --keep-days 30 --max-size 2G --delete

    Nothing is deleted without --delete. If both rules are given, bundles that are too old are selected
    first, and then the oldest of the rest. The age of a bundle is the time since its last event or the
    last change to its files (other than state.json and state.compact.json), whichever is later; an
    event that is dated more than a day in the future does not count. Sizes are 500M, 2G or 1.5GiB; ages
    are days, or 12h, 30d, 2w.

    Bundles that are being recorded, or that were written to within the last ten minutes, are never
    deleted. Without --force, bundles are kept that contain a file which belongs to no bundle. Bundles
    whose log has no end are kept until they were not written to for a day, since their sessions may go
    on. A bundle is renamed to the hidden name .pruned-NAME before it is removed; what an earlier run
    left under such a name is removed too, and so is what a killed process left of a packed bundle,
    .NAME.trace.tmp, ten minutes later.

    --json writes an object with dry_run, bytes, bytes_going, bytes_deleted, bundles (bundle,
    last_used_unix_ms, bytes, verdict: stays, protected, too_old or too_much; protection: null,
    being_recorded, recent, no_end, unknown_file, symbolic_link or unreadable; protection_message,
    deleted, problem) and leftovers (path, deleted, problem).

    Exit codes: 0 done; 1 the folder cannot be listed, or a bundle could not be deleted; 2 wrong usage;
    3 an internal error.
    ");
    assert_snapshot!(place.run(&["reduce", "--help"]), @r"
    Reduces bundles to the graph of their session, state.json

    Usage: trace reduce [OPTIONS] <BUNDLE>...

    Arguments:
      <BUNDLE>...  Bundles or sessions of other agents: paths, ids, @last; or folders with such below
                   them

    Options:
          --session <ID>         Only this session of a store that has several, such as opencode.db;
                                 repeatable
      -o, --output <FILE|DIR|->  The output, instead of state.json in a directory or NAME.state.json
                                 beside a file: a file for one bundle, a directory for several, - for
                                 stdout
          --strict               Refuse a bundle that breaks a rule of its format, and write nothing for
                                 it
      -j, --jobs <N>             Number of threads [default: one per core]
          --compact              Write the compact form, state.compact.json: lists of items are ranges
                                 of shared lines
          --one-line             Write state.json on one line, without white space
      -q, --quiet                Print nothing but failures
          --color <WHEN>         Use colours: auto (on a terminal, unless NO_COLOR is set), always or
                                 never
      -v, --verbose...           Print progress messages to stderr; -vv prints more
      -h, --help                 Print help

    Examples:
      trace reduce traces/trace-1                  writes traces/trace-1/state.json
      trace reduce traces                          a state.json in or beside every bundle below traces
      trace reduce traces -o graphs                graphs/<name of the bundle>.json for each
      trace reduce traces/trace-1 -o - | jq .      to stdout
      trace reduce traces/trace-1 --compact        writes traces/trace-1/state.compact.json
      trace reduce traces -o - --compact           to stdout, one line per bundle
      trace reduce --strict traces/trace-1         only what the format allows
      trace reduce traces/trace-1.trace            a packed bundle; writes traces/trace-1.state.json

    A bundle that is damaged, or that is still being written, is reduced as far as its events allow.
    What is missing is printed to stderr, and is in the `diagnostics` of the output if the bundle breaks
    a rule of its format:
      error[torn_tail] line 812: the last line breaks off after 77 bytes; its event is lost

    The items of every request make state.json grow with the square of a session's length. --compact
    writes the same graph with these lists as ranges of shared lines, which grows with what is new;
    docs/compact/README.md describes the form and has readers for Python and JavaScript, and
    docs/schema/compact.schema.json is its schema.

    Files are replaced atomically, and only their owner can read them, since they contain what the
    session saw.

    Exit codes: 0 all reduced, even if damaged; 1 a bundle could not be read, was refused by --strict,
    or its output could not be written (the others were reduced); 2 wrong usage; 3 an internal error.
    ");
    assert_snapshot!(place.run(&["pack", "--help"]), @r"
    Packs bundles into one file each, many times smaller

    Usage: trace pack [OPTIONS] <BUNDLE>...

    Arguments:
      <BUNDLE>...  Bundles or sessions of other agents: paths, ids, @last; or folders with such below
                   them

    Options:
          --session <ID>       Only this session of a store that has several, such as opencode.db;
                               repeatable
      -o, --output <FILE|DIR>  The packed bundle: a file for one bundle, a directory for several
                               [default: beside the bundle]
          --level <N>          Compression level, from 1 (fast) to 22 (small) [default: 19]
          --delete-source      Delete each bundle after its packed file was compared with it
          --force              Overwrite existing packed files
          --json               Write JSON instead of text
      -q, --quiet              Print nothing but failures
          --color <WHEN>       Use colours: auto (on a terminal, unless NO_COLOR is set), always or
                               never
      -v, --verbose...         Print progress messages to stderr; -vv prints more
      -h, --help               Print help

    Examples:
      trace pack traces/trace-1                    writes traces/trace-1.trace
      trace pack traces                            a packed bundle beside every one below traces
      trace pack traces -o archive                 archive/<name of the bundle>.trace for each
      trace pack traces/trace-1 -o session.trace   to a file of this name
      trace pack --delete-source traces            frees the space, bundle by bundle

    A packed bundle contains every file of the bundle, byte for byte, except state.json and
    state.compact.json, which `trace reduce` makes again. All commands read it like the directory;
    `trace unpack` restores the directory. Damaged bundles are packed as they are. A bundle that is
    being recorded is refused, and so is one with anything that is neither a file nor a directory.

    The packed file is written under a temporary name, read back and compared with the bundle byte by
    byte before it is renamed. Only its owner can read it, since it contains what the session saw. With
    --delete-source, the bundle is then deleted, unless it has changed or its session may go on;
    recorders cannot open it until then. An existing packed file with the same content is accepted.
    --force never replaces a packed file that contains files which the bundle lacks.

    --json writes an array of objects with bundle, target, files, bytes, packed, deleted and problem.

    Exit codes: 0 all packed; 1 a bundle could not be packed or deleted (the others were packed); 2
    wrong usage; 3 an internal error.
    ");
    assert_snapshot!(place.run(&["unpack", "--help"]), @r#"
    Restores the directories of packed bundles

    Usage: trace unpack [OPTIONS] <FILE>...

    Arguments:
      <FILE>...  Packed bundles, or folders with packed bundles below them

    Options:
      -o, --output <DIR>     Where the bundle goes: a new directory for one file, an existing directory
                             (or a name that ends with /) for several
          --max-size <SIZE>  Most bytes of an unpacked bundle, such as 500MB or 2GB [default: 64GiB]
          --json             Write JSON instead of text
      -q, --quiet            Print nothing but failures
          --color <WHEN>     Use colours: auto (on a terminal, unless NO_COLOR is set), always or never
      -v, --verbose...       Print progress messages to stderr; -vv prints more
      -h, --help             Print help

    Examples:
      trace unpack traces/trace-1.trace              makes traces/trace-1
      trace unpack traces/trace-1.trace -o copy      makes copy
      trace unpack archive/*.trace -o traces/        traces/<name> for each

    --json writes an array of objects with file, target, files, bytes and problem.

    The directory is written under a temporary name, and renamed when all checksums are correct. An
    existing directory is never touched. Directories and files are readable only by their owner.

    Exit codes: 0 all unpacked; 1 a file is damaged, or a directory could not be written (the others
    were unpacked); 2 wrong usage; 3 an internal error.
    "#);
    assert_snapshot!(place.run(&["show", "--help"]), @r#"
    Shows what happened in a session, and what went wrong

    Usage: trace show [OPTIONS] <BUNDLE>

    Arguments:
      <BUNDLE>  The bundle, or the session of another agent: its file or folder, its id or the beginning
                of it, or @last; or the address of a packed bundle in object storage

    Options:
          --session <ID>      The session of a store that has several, such as opencode.db
          --json              Write a JSON object, described below
      -a, --all               Show all rows instead of the first ones
      -o, --object <TYPE:ID>  Show one object instead, with the events that it comes from: TYPE:ID, with
                              the names of state.json
          --color <WHEN>      Use colours: auto (on a terminal, unless NO_COLOR is set), always or never
      -v, --verbose...        Print progress messages to stderr; -vv prints more
      -h, --help              Print help

    Examples:
      trace show traces/trace-1
      trace show traces/trace-1 --all | less
      trace show traces/trace-1 --object tool_call:call_7
      trace show traces/trace-1 --json | jq '.attention[] | select(.state == "failed")'

    The output begins with the session, and with what needs attention: failed or cancelled operations,
    commands with a nonzero exit code, messages that never arrived, operations that never ended
    (`running` while the log has no end, `unfinished` after that), findings of an audit (only counted,
    and not for sessions with more than 2,000 tool calls or 16 MiB of messages, arguments and outputs;
    `trace audit SESSION` tells those of any session), and damage of the bundle. The threads follow, one
    per agent, each below the one that spawned it.

    --json writes one object:
      format       1; is increased if a field changes its meaning, not if one is added
      bundle       path of the bundle
      session      ids, status, times, recording_complete, tokens, models, counts
      attention    worst first: what, state, id, thread_id, agent_path, seq, at_unix_ms, exit_code,
                   subject (the operation) and detail (its result)
      findings     of an audit: high, medium, low (counts); null if the session has more than 2,000 tool
                   calls or 16 MiB of messages, arguments and outputs
      diagnostics  errors, warnings and notes (counts), and a list of code, severity, seq, line,
                   raw_payload_id, message
      threads      parents first: thread_id, parent_thread_id, depth, agent_path, nickname, status,
                   times, counts, tokens
      tools        most used first: tool, calls, failed, unfinished, duration_ms
      edges        kind, count
    Times are in milliseconds. Unknown values are null. Texts are cut at 2000 columns.

    --object shows one object as state.json has it, with the events that began and ended it. Of an
    imported session, it names the file and the line that they come from.

    Exit codes: 0 shown, damaged or not; 1 not a bundle, or unreadable; 2 wrong usage; 3 an internal
    error.
    "#);
    assert_snapshot!(place.run(&["ls", "--help"]), @r#"
    Lists bundles, and sessions that other agents stored, newest first

    Usage: trace ls [OPTIONS] [ROOT]

    Arguments:
      [ROOT]  The folder [default: $TRACE_ROOT, then $CODEX_ROLLOUT_TRACE_ROOT, then traces in the
              server home]

    Options:
          --all             List all sessions of other agents, not only the newest ones
          --source <AGENT>  Only sessions of this agent: claude-code, codex, gemini-cli, opencode, otel,
                            or trace for recordings; repeatable
          --since <WHEN>    Only what happened since a day, a time, or for an age such as 7d or 12h
          --cwd <DIR>       Only sessions that worked in this folder, or below it
          --json            Write a JSON array, described below
          --color <WHEN>    Use colours: auto (on a terminal, unless NO_COLOR is set), always or never
      -v, --verbose...      Print progress messages to stderr; -vv prints more
      -h, --help            Print help

    Examples:
      trace ls                         your recordings, and the sessions that agents stored for you
      trace ls traces
      trace ls ~/.claude/projects
      trace ls --cwd . --since 7d      what ran in this folder in the last week
      trace ls --source claude-code --source trace
      export TRACE_ROOT=traces; trace ls
      trace ls --json | jq -r '.[] | select(.status == "failed") | .bundle'

    STATUS is how the session ended. If the log has no end, the status is `running` if a recorder holds
    the bundle or if the log of a directory was written to within the last minute, and `no end`
    otherwise, because the process died. STATE is `fresh` if the bundle has a state.json or
    state.compact.json that is newer than its log, and `stale` if it only has an older one. KIND is
    `packed` for a file and `growing` for a file that was not finished; state.json is beside such files.

    Sessions of other agents are listed if no folder is given, or if the folder has no bundles: the
    newest 30, or --all. STATUS is how the last turn ended then. SESSION is the id, which every command
    takes in place of a path. Recordings stand among them as sessions of the agent `trace`; they name no
    folder.

    --json writes an array of objects with bundle, packed, status (completed, failed, aborted, running,
    no_end, empty or unreadable), recording_complete, torn_tail, schema_version, trace_id, rollout_id,
    root_thread_id, started_at_unix_ms, log_bytes, log_modified_unix_ms (of a packed bundle, the time of
    the file), payload_files, state (fresh or stale) and problem. Sessions of other agents have session,
    format, agent, id, agent_version, title, cwd, model, status, started_at_unix_ms, ended_at_unix_ms,
    threads, turns, tool_calls, failed_tool_calls, input_tokens, cached_input_tokens, output_tokens and
    problem. Unknown values are null.

    Exit codes: 0 listed, even if some cannot be read; 1 the folder cannot be listed; 2 wrong usage; 3
    an internal error.
    "#);
}

#[test]
fn nothing_to_do_is_wrong_usage() {
    let ran = Place::new().run(&[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("Usage: trace"));
    assert_eq!(Place::new().run(&["dance"]).code, 2);
}

#[test]
fn every_shell_gets_its_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = Place::new().run(&["completions", shell, "--fixed"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("strict"), "{shell}");
        let ran = Place::new().run(&["completions", shell]);
        let asks = ["bash", "fish", "zsh"].contains(&shell);
        assert_eq!(ran.stdout.contains("TRACE_COMPLETE"), asks, "{shell}");
    }
}

/// Returns the subcommands that `trace --help` lists.
fn commands() -> Vec<String> {
    let help = Place::new().run(&["--help"]).stdout;
    let (_, list) = help.split_once("\nCommands:\n").expect("a list of commands");
    let rows = list.lines().take_while(|row| !row.is_empty());
    // A row begins with two spaces and the name; more spaces continue the row before it.
    let names = rows.filter_map(|row| row.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    names.map(str::to_owned).collect()
}

#[test]
fn every_command_has_a_manual_page_examples_exit_codes_and_a_place_in_the_readme() {
    let place = Place::new();
    let readme = include_str!("../../../README.md");
    let commands = commands();
    assert!(commands.len() > 20 && commands.iter().any(|name| name == "reduce"), "{commands:?}");
    for command in &commands {
        let ran = place.run(&["man", command]);
        assert!(ran.code == 0 && ran.stdout.contains(&format!(".TH trace-{command} 1")), "{command}: {}", ran.stdout);
        let help = place.run(&[command, "--help"]).stdout;
        assert!(help.contains("\nExamples:\n"), "{command}: its help has no examples");
        assert!(help.contains("\nExit codes"), "{command}: its help has no exit codes");
        assert!(readme.contains(&format!("`trace {command}")), "{command}: README.md does not mention it");
    }
    assert!(place.run(&["man"]).stdout.contains("trace\\-reduce(1)"));
    assert_snapshot!(place.run(&["man", "dance"]), @r#"
    --- stderr
    error: there is no command `dance`
    hint: one of demo, run, exec, serve, mcp, relay, replay, ls, costs, show, tail, postmortem, audit, why, grep, context, timeline, critical-path, diff, query, fleet, view, graph, export, import, reduce, check, pack, unpack, redact, prune, schema, completions, man
    --- exit code 2
    "#);
}

#[test]
fn verbose_says_what_is_done() {
    let place = Place::new();
    crate::support::well(&place.path("bundle"), crate::support::START);
    let ran = place.run(&["reduce", "-v", "bundle"]);
    assert!(ran.stderr.contains("INFO reduced bundle=bundle"), "{}", ran.stderr);
}
