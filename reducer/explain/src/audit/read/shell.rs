//! Reads command lines as a shell would, far enough to know which programs a command runs.
//!
//! Nothing is expanded. A command that cannot be read, for example because a quote is not closed, gives what could be
//! read of it.

/// Longest command line that is read, in bytes. The rest of a longer one is ignored.
pub const MAX_SCRIPT_BYTES: usize = 256 << 10;

/// Deepest nesting of shells in shells, such as `sh -c "sh -c ..."`, that is read.
pub const MAX_NESTED_SHELLS: usize = 4;

/// What stands between a command and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// Nothing, `;`, `&` or a new line: it runs whatever happened before.
    Then,
    /// `&&`: it runs if the one before succeeded.
    And,
    /// `||`: it runs if the one before failed.
    Or,
    /// `|`: it reads what the one before prints.
    Pipe,
}

/// A redirection of output to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The file.
    pub path: String,
    /// Whether the output is appended.
    pub appends: bool,
}

/// One command of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments, without quotes.
    pub words: Vec<String>,
    /// Variables that are set for this command.
    pub variables: Vec<(String, String)>,
    /// Files that it writes by redirection.
    pub writes: Vec<Redirect>,
    /// Text that it reads from its command line (`<<EOF`, `<<<`).
    pub input: Option<String>,
    /// What stands before it.
    pub join: Join,
    /// Folder that a `cd` before it entered, relative to the folder of the command line.
    pub folder: Option<String>,
    /// Whether `&` leaves it running.
    pub in_background: bool,
}

impl Command {
    /// Returns the name of the program without its folder and without the ending that Windows adds.
    pub fn program(&self) -> &str {
        let program = self.words.first().map_or("", String::as_str);
        let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
        [".cmd", ".exe"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
    }

    /// Returns the words after the program.
    pub fn arguments(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Returns whether one of the arguments is `flag`, or begins with it and `=`.
    pub fn has_flag(&self, flag: &str) -> bool {
        self.arguments()
            .iter()
            .any(|word| word == flag || word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
    }

    /// Returns whether a bundle of single-letter options, such as `-rf`, holds the letter.
    pub fn has_letter(&self, letter: char) -> bool {
        let is_bundle = |word: &&String| word.starts_with('-') && !word.starts_with("--");
        self.arguments().iter().take_while(|word| *word != "--").filter(is_bundle).any(|word| word.contains(letter))
    }

    /// Returns the arguments that are no options.
    pub fn operands(&self) -> impl Iterator<Item = &str> {
        self.arguments().iter().map(String::as_str).filter(|word| !word.starts_with('-'))
    }

    /// Returns the command as one line.
    pub fn line(&self) -> String {
        self.words.join(" ")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Join(Join),
    Write(bool),
    Background,
    /// A redirection of input, or one that writes no file.
    Read,
    HereString,
    Here(usize),
}

/// Splits a command line into its commands. Words that only start another command (`sudo`, `env`, `timeout 60`,
/// `sh -c "..."`) are still there; [`commands`] takes them away.
pub fn split(script: &str) -> Vec<Command> {
    let mut end = script.len().min(MAX_SCRIPT_BYTES);
    while !script.is_char_boundary(end) {
        end -= 1;
    }
    let (tokens, documents) = tokens(&script[..end]);
    let mut found: Vec<Command> = Vec::new();
    let mut current = empty(Join::Then);
    let mut folder: Option<String> = None;
    let mut tokens = tokens.into_iter().peekable();
    let finish = |current: &mut Command, folder: &mut Option<String>, found: &mut Vec<Command>, next: Join| {
        let mut done = std::mem::replace(current, empty(next));
        take_keywords(&mut done);
        take_variables(&mut done);
        if done.words.is_empty() && done.variables.is_empty() && done.writes.is_empty() {
            current.join = if next == Join::Then { done.join } else { next };
            return;
        }
        done.folder.clone_from(folder);
        if (done.program() == "cd" || done.program() == "pushd")
            && let Some(target) = done.arguments().iter().find(|word| !word.starts_with('-'))
        {
            *folder = Some(entered(folder.as_deref(), target));
        }
        found.push(done);
    };
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) => current.words.push(word),
            Token::Join(join) => finish(&mut current, &mut folder, &mut found, join),
            Token::Background => {
                current.in_background = true;
                finish(&mut current, &mut folder, &mut found, Join::Then);
            }
            Token::Write(appends) => {
                if let Some(Token::Word(path)) = tokens.next_if(|token| matches!(token, Token::Word(_)))
                    && !path.starts_with('&')
                    && !path.starts_with("/dev/")
                {
                    current.writes.push(Redirect { path, appends });
                }
            }
            Token::Read => {
                let _source = tokens.next_if(|token| matches!(token, Token::Word(_)));
            }
            Token::HereString => {
                if let Some(Token::Word(text)) = tokens.next_if(|token| matches!(token, Token::Word(_))) {
                    current.input = Some(text);
                }
            }
            Token::Here(index) => current.input = documents.get(index).cloned(),
        }
    }
    finish(&mut current, &mut folder, &mut found, Join::Then);
    found
}

fn empty(join: Join) -> Command {
    Command {
        words: Vec::new(),
        variables: Vec::new(),
        writes: Vec::new(),
        input: None,
        join,
        folder: None,
        in_background: false,
    }
}

fn entered(folder: Option<&str>, target: &str) -> String {
    match folder {
        Some(folder) if !target.starts_with('/') && !target.starts_with('~') => {
            format!("{}/{target}", folder.trim_end_matches('/'))
        }
        _ => target.to_owned(),
    }
}

/// Words of the shell's grammar that may stand before a command.
const KEYWORDS: [&str; 11] = ["then", "do", "else", "elif", "if", "while", "until", "!", "{", "(", "time"];

/// Words of the shell's grammar that stand alone.
const CLOSING: [&str; 5] = ["fi", "done", "esac", "}", ")"];

fn take_keywords(command: &mut Command) {
    let from = command.words.iter().position(|word| !KEYWORDS.contains(&word.as_str())).unwrap_or(command.words.len());
    command.words.drain(..from);
    if command.words.first().is_some_and(|word| CLOSING.contains(&word.as_str()) || word == "for" || word == "case") {
        command.words.clear();
    }
}

fn take_variables(command: &mut Command) {
    while let Some((name, value)) = command.words.first().and_then(|word| assignment(word)) {
        command.variables.push((name, value));
        command.words.remove(0);
    }
}

/// Reads a word `NAME=value`.
pub fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

fn tokens(script: &str) -> (Vec<Token>, Vec<String>) {
    let bytes = script.as_bytes();
    let mut tokens = Vec::new();
    let mut documents: Vec<String> = Vec::new();
    // Marks of the documents that begin at the next line, with whether tabs are taken away.
    let mut waiting: Vec<(String, bool)> = Vec::new();
    let mut word: Option<String> = None;
    let mut at = 0;
    macro_rules! end_word {
        () => {
            if let Some(word) = word.take() {
                tokens.push(Token::Word(word));
            }
        };
    }
    while at < bytes.len() {
        let rest = &script[at..];
        match bytes[at] {
            b'\\' => {
                let next = rest[1..].chars().next();
                match next {
                    Some('\n') => {}
                    Some(next) => word.get_or_insert_default().push(next),
                    None => {}
                }
                at += 1 + next.map_or(0, char::len_utf8);
            }
            b'\'' => {
                let text = &rest[1..];
                let end = text.find('\'').unwrap_or(text.len());
                word.get_or_insert_default().push_str(&text[..end]);
                at += 2 + end;
            }
            b'"' => {
                let into = word.get_or_insert_default();
                let mut characters = rest[1..].char_indices();
                let mut length = rest.len();
                while let Some((offset, character)) = characters.next() {
                    match character {
                        '"' => {
                            length = offset + 2;
                            break;
                        }
                        '\\' => match characters.next() {
                            Some((_, next @ ('"' | '\\' | '$' | '`'))) => into.push(next),
                            Some((_, '\n')) | None => {}
                            Some((_, next)) => {
                                into.push('\\');
                                into.push(next);
                            }
                        },
                        other => into.push(other),
                    }
                }
                at += length;
            }
            b'$' if rest.starts_with("$(") => {
                let length = substitution(rest);
                word.get_or_insert_default().push_str(&rest[..length]);
                at += length;
            }
            b'`' => {
                let length = rest[1..].find('`').map_or(rest.len(), |end| end + 2);
                word.get_or_insert_default().push_str(&rest[..length]);
                at += length;
            }
            b'#' if word.is_none() => at += rest.find('\n').unwrap_or(rest.len()),
            b'\n' => {
                end_word!();
                at += 1;
                for (mark, tabs) in waiting.drain(..) {
                    let (document, length) = document(&script[at..], &mark, tabs);
                    documents.push(document);
                    at += length;
                }
                tokens.push(Token::Join(Join::Then));
            }
            b';' => {
                end_word!();
                tokens.push(Token::Join(Join::Then));
                at += 1;
            }
            b'&' if rest.starts_with("&&") => {
                end_word!();
                tokens.push(Token::Join(Join::And));
                at += 2;
            }
            b'&' if rest.starts_with("&>") => {
                end_word!();
                let appends = rest.starts_with("&>>");
                tokens.push(Token::Write(appends));
                at += if appends { 3 } else { 2 };
            }
            b'&' => {
                end_word!();
                tokens.push(Token::Background);
                at += 1;
            }
            b'|' => {
                end_word!();
                let (join, length) = if rest.starts_with("||") {
                    (Join::Or, 2)
                } else {
                    (Join::Pipe, if rest.starts_with("|&") { 2 } else { 1 })
                };
                tokens.push(Token::Join(join));
                at += length;
            }
            b'(' | b')' => {
                end_word!();
                tokens.push(Token::Join(Join::Then));
                at += 1;
            }
            b'>' => {
                // A number directly before it names what is redirected.
                if word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
                    word = None;
                } else {
                    end_word!();
                }
                if rest.starts_with(">&") {
                    tokens.push(Token::Read);
                    at += 2;
                } else {
                    let appends = rest.starts_with(">>");
                    tokens.push(Token::Write(appends));
                    at += if appends || rest.starts_with(">|") { 2 } else { 1 };
                }
            }
            b'<' => {
                end_word!();
                if rest.starts_with("<<<") {
                    tokens.push(Token::HereString);
                    at += 3;
                } else if rest.starts_with("<<") {
                    let tabs = rest.starts_with("<<-");
                    let start = if tabs { 3 } else { 2 };
                    let mark = rest[start..].trim_start_matches([' ', '\t']);
                    let skipped = rest.len() - mark.len();
                    let end = mark.find([' ', '\t', '\n', ';', '|', '&', '>', ')']).unwrap_or(mark.len());
                    let name: String = mark[..end].chars().filter(|it| !matches!(it, '\'' | '"' | '\\')).collect();
                    tokens.push(Token::Here(documents.len() + waiting.len()));
                    waiting.push((name, tabs));
                    at += skipped + end;
                } else {
                    tokens.push(Token::Read);
                    at += 1;
                }
            }
            b' ' | b'\t' | b'\r' => {
                end_word!();
                at += 1;
            }
            _ => {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                word.get_or_insert_default().push_str(&rest[..length]);
                at += length;
            }
        }
    }
    end_word!();
    (tokens, documents)
}

/// Returns the length of `$(...)` at the beginning of a text.
fn substitution(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

fn document(text: &str, mark: &str, tabs: bool) -> (String, usize) {
    let mut length = 0;
    let mut content = String::new();
    for line in text.split_inclusive('\n') {
        length += line.len();
        let bare = line.trim_end_matches(['\n', '\r']);
        let bare = if tabs { bare.trim_start_matches('\t') } else { bare };
        if bare == mark {
            return (content, length);
        }
        content.push_str(line);
    }
    (content, length)
}

/// Returns the commands that a command line runs, with what only starts another command taken away: `sudo`,
/// `timeout 60`, `npx`, `uv run`, `sh -c "..."` and so on.
pub fn commands(script: &str) -> Vec<Command> {
    let mut found = Vec::new();
    collect(script, None, Join::Then, 0, &mut found);
    found
}

fn collect(script: &str, folder: Option<&str>, join: Join, depth: usize, found: &mut Vec<Command>) {
    for (index, mut command) in split(script).into_iter().enumerate() {
        if index == 0 {
            command.join = join;
        }
        if let Some(outer) = folder {
            command.folder =
                Some(command.folder.as_deref().map_or_else(|| outer.to_owned(), |inner| entered(Some(outer), inner)));
        }
        unwrap_starters(&mut command);
        match inner_script(&command) {
            Some(script) if depth < MAX_NESTED_SHELLS => {
                collect(&script, command.folder.as_deref(), command.join, depth + 1, found);
            }
            _ => found.push(command),
        }
    }
}

/// A program that starts the command behind it.
struct Starter {
    /// Program, and the words that have to follow.
    words: &'static [&'static str],
    /// Options that take a value as a word of its own.
    valued: &'static [&'static str],
    /// Number of words before the command: a time limit, a container.
    skipped: usize,
}

const fn starter(words: &'static [&'static str], valued: &'static [&'static str], skipped: usize) -> Starter {
    Starter { words, valued, skipped }
}

/// Programs that start the command behind them.
static STARTERS: [Starter; 50] = [
    starter(&["sudo"], &["-u", "-g"], 0),
    starter(&["doas"], &["-u"], 0),
    starter(&["env"], &["-u", "-C"], 0),
    starter(&["command"], &[], 0),
    starter(&["exec"], &[], 0),
    starter(&["builtin"], &[], 0),
    starter(&["nohup"], &[], 0),
    starter(&["time"], &["-f", "-o"], 0),
    starter(&["nice"], &["-n"], 0),
    starter(&["ionice"], &["-c", "-n"], 0),
    starter(&["stdbuf"], &["-o", "-i", "-e"], 0),
    starter(&["setsid"], &[], 0),
    starter(&["unbuffer"], &[], 0),
    starter(&["timeout"], &["-k", "-s", "--signal", "--kill-after"], 1),
    starter(&["gtimeout"], &["-k", "-s"], 1),
    starter(&["xvfb-run"], &["-s", "-n"], 0),
    starter(&["npx"], &["-p", "--package"], 0),
    starter(&["bunx"], &[], 0),
    starter(&["pnpx"], &[], 0),
    starter(&["npm", "exec"], &[], 0),
    starter(&["pnpm", "exec"], &[], 0),
    starter(&["pnpm", "dlx"], &[], 0),
    starter(&["yarn", "exec"], &[], 0),
    starter(&["yarn", "dlx"], &[], 0),
    starter(&["bun", "x"], &[], 0),
    starter(&["uv", "run"], &["--with", "--extra", "--group", "-p", "--python", "--project", "--directory"], 0),
    starter(&["uvx"], &["--with", "--from"], 0),
    starter(&["poetry", "run"], &[], 0),
    starter(&["pipenv", "run"], &[], 0),
    starter(&["pdm", "run"], &[], 0),
    starter(&["hatch", "run"], &[], 0),
    starter(&["rye", "run"], &[], 0),
    starter(&["pixi", "run"], &["-e"], 0),
    starter(&["conda", "run"], &["-n", "-p"], 0),
    starter(&["bundle", "exec"], &[], 0),
    starter(&["mise", "exec"], &[], 0),
    starter(&["mise", "x"], &[], 0),
    starter(&["asdf", "exec"], &[], 0),
    starter(&["direnv", "exec"], &[], 1),
    starter(&["cross-env"], &[], 0),
    starter(&["dotenv"], &["-e"], 0),
    starter(&["docker", "compose", "run"], &["-e", "-u", "-v", "-w", "--name"], 1),
    starter(&["docker", "compose", "exec"], &["-e", "-u", "-w"], 1),
    starter(&["docker-compose", "run"], &["-e", "-u", "-v", "-w", "--name"], 1),
    starter(&["docker-compose", "exec"], &["-e", "-u", "-w"], 1),
    starter(&["docker", "exec"], &["-e", "-u", "-w"], 1),
    starter(
        &["docker", "run"],
        &["-e", "-u", "-v", "-w", "--name", "-p", "--network", "--env-file", "--entrypoint"],
        1,
    ),
    starter(&["podman", "run"], &["-e", "-u", "-v", "-w", "--name", "-p"], 1),
    starter(&["podman", "exec"], &["-e", "-u", "-w"], 1),
    starter(&["nix", "develop"], &["-c", "--command"], 0),
];

fn unwrap_starters(command: &mut Command) {
    while let Some(length) = starter_length(&command.words) {
        command.words.drain(..length);
        take_variables(command);
    }
}

fn starter_length(words: &[String]) -> Option<usize> {
    let fits = |starter: &&Starter| {
        let first = words.first().map(|word| word.rsplit('/').next().unwrap_or(word));
        first == Some(starter.words[0])
            && starter.words[1..]
                .iter()
                .enumerate()
                .all(|(index, known)| words.get(index + 1).is_some_and(|word| word == known))
    };
    let starter = STARTERS.iter().find(fits)?;
    let mut at = starter.words.len();
    let mut skipped = 0;
    while let Some(word) = words.get(at) {
        if word == "--" {
            at += 1;
        } else if starter.words[0] == "nix" && (word == "-c" || word == "--command") {
            at += 1;
            break;
        } else if word.starts_with('-') && word.len() > 1 {
            at += if starter.valued.contains(&word.as_str()) { 2 } else { 1 };
        } else if skipped < starter.skipped {
            skipped += 1;
            at += 1;
        } else {
            break;
        }
    }
    (at < words.len()).then_some(at)
}

/// Returns the script that a shell is started with.
fn inner_script(command: &Command) -> Option<String> {
    if matches!(command.program(), "eval") {
        return Some(command.arguments().join(" "));
    }
    let is_shell = matches!(command.program(), "sh" | "bash" | "zsh" | "dash" | "ash" | "fish" | "ksh");
    if !is_shell {
        return None;
    }
    let arguments = command.arguments();
    let is_script = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    match arguments.iter().position(is_script) {
        Some(flag) => arguments.get(flag + 1).cloned(),
        None if arguments.iter().all(|word| word.starts_with('-')) => command.input.clone(),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(script: &str) -> Vec<String> {
        commands(script).iter().map(Command::line).collect()
    }

    #[test]
    fn commands_are_told_apart() {
        assert_eq!(
            lines("cd lib && cargo test 2>&1 | tail -5; echo done"),
            ["cd lib", "cargo test", "tail -5", "echo done"]
        );
        assert_eq!(lines("A=1 B='x y' make check"), ["make check"]);
        assert_eq!(lines("if pytest; then echo ok; fi"), ["pytest", "echo ok"]);
        assert_eq!(lines("# pytest\nls"), ["ls"]);
        assert_eq!(lines("echo 'rm -rf /' \"a;b\" c\\ d"), ["echo rm -rf / a;b c d"]);
        let joins: Vec<Join> = commands("a && b || c | d; e").iter().map(|command| command.join).collect();
        assert_eq!(joins, [Join::Then, Join::And, Join::Or, Join::Pipe, Join::Then]);
    }

    #[test]
    fn starters_are_taken_away() {
        for script in [
            "sudo -u me pytest -q",
            "timeout -k 5 60 pytest -q",
            "env -u X A=1 pytest -q",
            "uv run --with x pytest -q",
            "poetry run pytest -q",
            "bash -lc 'poetry run pytest -q'",
            "sh -c \"timeout 5 pytest -q\"",
            "docker compose run --rm app pytest -q",
            "nix develop -c pytest -q",
            "npx pytest -q",
            "bash <<'EOF'\npytest -q\nEOF",
        ] {
            assert_eq!(lines(script), ["pytest -q"], "{script}");
        }
    }

    #[test]
    fn documents_and_redirections_are_read() {
        let found = commands("cat > a.txt <<'EOF'\nrm -rf /\nEOF\npython - <<X >> log\nprint(1)\nX\n");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].input.as_deref(), Some("rm -rf /\n"));
        assert_eq!(found[0].writes, [Redirect { path: "a.txt".to_owned(), appends: false }]);
        assert_eq!(found[1].input.as_deref(), Some("print(1)\n"));
        assert!(found[1].writes[0].appends);
        assert!(commands("a 2>/dev/null >&2").iter().all(|command| command.writes.is_empty()));
    }

    #[test]
    fn folders_follow_cd() {
        let found = commands("cd a && cd b && make");
        assert_eq!(found[2].folder.as_deref(), Some("a/b"));
        assert_eq!(commands("make")[0].folder, None);
    }

    #[test]
    fn broken_lines_give_what_can_be_read() {
        assert_eq!(lines("echo 'a"), ["echo a"]);
        assert_eq!(lines("echo \"a"), ["echo a"]);
        assert_eq!(lines("cat <<EOF\nx"), ["cat"]);
        assert!(commands(&"sh -c ".repeat(100)).len() < 10);
        assert!(commands("").is_empty());
    }
}
