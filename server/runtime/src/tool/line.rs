//! Parses simple shell lines without a shell.
//!
//! [`parse`] splits a line such as `cd src && grep -n "x y" *.rs
//! head -3` into its commands. It accepts only lines that it understands completely. For a line that runs, reads or writes
//! more than its words show (substitutions, redirections except to `/dev/null`, groups, loops, background jobs,
//! assignments) it returns `None`. Decisions that depend on the words of a line are made for simple lines only.
//!
//! Words are not expanded: variables and patterns stay as written and are marked.

/// Length of the longest line that is parsed, in bytes.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// Most commands of a line that is parsed.
pub const MAX_COMMANDS: usize = 64;

/// A command of a simple line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// How the command is connected to the one before it.
    pub joint: Connector,
    /// The words without quotes; at least one.
    pub words: Vec<String>,
    /// The command as written in the line.
    pub source: String,
    /// Whether the shell expands a word.
    pub expansion: Expansion,
}

/// How a command is connected to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connector {
    /// It is the first command.
    First,
    /// It runs after the previous command, possibly depending on the exit code of that.
    Sequence,
    /// It reads the output of the previous command.
    Pipe,
}

/// Whether the shell expands a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expansion {
    /// The command gets the words unchanged.
    None,
    /// The shell expands variables, patterns or `~`.
    Some,
}

/// Returns the commands of a simple line; `None` for any other line.
pub fn parse(line: &str) -> Option<Vec<SimpleCommand>> {
    if line.len() > MAX_LINE_BYTES || line.contains('\0') {
        return None;
    }
    let mut scanner = Scanner {
        line,
        at: 0,
        commands: Vec::new(),
        joint: Connector::First,
        start: 0,
        end: 0,
        words: Vec::new(),
        expansion: Expansion::None,
    };
    scanner.run()?;
    (!scanner.commands.is_empty()).then_some(scanner.commands)
}

struct Scanner<'a> {
    line: &'a str,
    at: usize,
    commands: Vec<SimpleCommand>,
    joint: Connector,
    start: usize,
    end: usize,
    words: Vec<String>,
    expansion: Expansion,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.line[self.at..]
    }

    fn run(&mut self) -> Option<()> {
        loop {
            while self.rest().starts_with([' ', '\t']) {
                self.at += 1;
            }
            if let Some(rest) = self.rest().strip_prefix("\\\n") {
                self.at = self.line.len() - rest.len();
                continue;
            }
            let Some(next) = self.rest().chars().next() else { break };
            match next {
                ';' if self.rest().starts_with(";;") => return None,
                ';' => self.join(1, Connector::Sequence)?,
                '\n' if self.words.is_empty() => self.at += 1,
                '\n' => self.join(1, Connector::Sequence)?,
                '&' if self.rest().starts_with("&&") => self.join(2, Connector::Sequence)?,
                '|' if self.rest().starts_with("||") => self.join(2, Connector::Sequence)?,
                '|' if self.rest().starts_with("|&") => return None,
                '|' => self.join(1, Connector::Pipe)?,
                '&' if !self.rest().starts_with("&>") => return None,
                '#' | '(' | ')' | '<' => return None,
                _ => {
                    if !self.skip_redirection_into_nowhere()? {
                        self.word()?;
                    }
                }
            }
        }
        match (self.words.is_empty(), self.joint) {
            (false, _) => self.close(),
            // `a;` and an empty line are complete, `a
            // ` and `a &&` are not.
            (true, Connector::Sequence) if !matches!(self.line.trim_end().as_bytes().last(), Some(b'&' | b'|')) => {
                Some(())
            }
            (true, Connector::First) => Some(()),
            (true, _) => None,
        }
    }

    fn join(&mut self, length: usize, joint: Connector) -> Option<()> {
        if self.words.is_empty() {
            return None;
        }
        self.close()?;
        self.at += length;
        self.joint = joint;
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        if self.commands.len() == MAX_COMMANDS {
            return None;
        }
        let words = std::mem::take(&mut self.words);
        if is_reserved(&words[0]) || is_assignment(&words[0]) {
            return None;
        }
        self.commands.push(SimpleCommand {
            joint: self.joint,
            words,
            source: self.line[self.start..self.end].to_owned(),
            expansion: std::mem::replace(&mut self.expansion, Expansion::None),
        });
        Some(())
    }

    /// Skips `>/dev/null`, `2>/dev/null`, `&>/dev/null` and `2>&1`; rejects every other redirection. `&>` must end its
    /// command, because some shells take it for the end of a background job, followed by another command.
    fn skip_redirection_into_nowhere(&mut self) -> Option<bool> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after = rest[digits..].strip_prefix('&').filter(|_| digits == 0).unwrap_or(&rest[digits..]);
        let Some(target) = after.strip_prefix('>') else { return Some(false) };
        let target = target.strip_prefix('>').unwrap_or(target);
        let target = target.trim_start_matches([' ', '\t']);
        let after = ["/dev/null", "&1", "&2"].iter().find_map(|harmless| target.strip_prefix(harmless))?;
        if !(after.is_empty() || after.starts_with([' ', '\t', '\n', ';', '|', '&', ')'])) || self.words.is_empty() {
            return None;
        }
        let follows = after.trim_start_matches([' ', '\t']);
        if rest.starts_with('&') && !(follows.is_empty() || follows.starts_with(['\n', ';', '|', '&'])) {
            return None;
        }
        self.at = self.line.len() - after.len();
        self.end = self.at;
        Some(true)
    }

    fn word(&mut self) -> Option<()> {
        if self.words.is_empty() {
            self.start = self.at;
        }
        let mut word = String::new();
        let mut is_first = true;
        while let Some(next) = self.rest().chars().next() {
            match next {
                ' ' | '\t' | '\n' | ';' | '|' | '&' => break,
                '<' | '>' | '(' | ')' | '`' | '!' => return None,
                '\'' => {
                    let text = &self.rest()[1..];
                    let length = text.find('\'')?;
                    word.push_str(&text[..length]);
                    self.at += length + 2;
                }
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    let escaped = self.rest()[1..].chars().next()?;
                    if escaped != '\n' {
                        word.push(escaped);
                    }
                    self.at += 1 + escaped.len_utf8();
                }
                '$' => self.variable(&mut word)?,
                '*' | '?' | '[' | ']' => self.marked(next, &mut word),
                '~' if is_first => self.marked(next, &mut word),
                // A brace expansion gives several words; a single brace starts a group.
                '{' | '}' => return None,
                _ => {
                    word.push(next);
                    self.at += next.len_utf8();
                }
            }
            is_first = false;
        }
        self.end = self.at;
        self.words.push(word);
        Some(())
    }

    fn double_quoted(&mut self, word: &mut String) -> Option<()> {
        self.at += 1;
        loop {
            match self.rest().chars().next()? {
                '"' => {
                    self.at += 1;
                    return Some(());
                }
                '`' => return None,
                '!' => return None,
                '$' => self.variable(word)?,
                '\\' => {
                    let escaped = self.rest()[1..].chars().next()?;
                    match escaped {
                        '\n' => {}
                        '$' | '`' | '"' | '\\' => word.push(escaped),
                        _ => word.extend(['\\', escaped]),
                    }
                    self.at += 1 + escaped.len_utf8();
                }
                other => {
                    word.push(other);
                    self.at += other.len_utf8();
                }
            }
        }
    }

    /// Accepts `$NAME` as written; rejects expansions that compute something, and `$'...'` quotes. The shell removes a
    /// backslash at a line end before it interprets the dollar, so a dollar before one could be any of these.
    fn variable(&mut self, word: &mut String) -> Option<()> {
        match self.rest()[1..].chars().next() {
            Some('(' | '{' | '\'' | '"' | '[') => None,
            Some('\\') if self.rest()[1..].starts_with("\\\n") => None,
            Some(next) if next.is_alphanumeric() || "_?#@*!$-=^+~:".contains(next) => {
                self.marked('$', word);
                word.push(next);
                self.at += next.len_utf8();
                Some(())
            }
            _ => {
                word.push('$');
                self.at += 1;
                Some(())
            }
        }
    }

    fn marked(&mut self, character: char, word: &mut String) {
        self.expansion = Expansion::Some;
        word.push(character);
        self.at += character.len_utf8();
    }
}

fn is_reserved(word: &str) -> bool {
    const RESERVED: [&str; 21] = [
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select",
        "function", "time", "coproc", "[[", "]]", "{", "}",
    ];
    RESERVED.contains(&word)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || "_[]".contains(character))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<Vec<Vec<String>>> {
        Some(parse(line)?.into_iter().map(|command| command.words).collect())
    }

    #[test]
    fn plain_lines_are_cut_into_commands() {
        let commands = parse("cd src && grep -n \"x y\" 'a b' | head -3; pwd").expect("is valid");
        let seen: Vec<_> = commands.iter().map(|command| (command.joint, command.source.as_str())).collect();
        assert_eq!(
            seen,
            [
                (Connector::First, "cd src"),
                (Connector::Sequence, "grep -n \"x y\" 'a b'"),
                (Connector::Pipe, "head -3"),
                (Connector::Sequence, "pwd"),
            ]
        );
        assert_eq!(commands[1].words, ["grep", "-n", "x y", "a b"]);
    }

    #[test]
    fn quotes_and_escapes_are_taken_off() {
        assert_eq!(
            words(r#"echo a\ b "c\"d\e" 'f\g' "" x'y'"z""#).expect("plain"),
            [["echo", "a b", "c\"d\\e", "f\\g", "", "xyz"]]
        );
        assert_eq!(words("echo a\\\nb \\\n c").expect("plain"), [["echo", "ab", "c"]]);
    }

    #[test]
    fn only_redirections_into_nowhere_are_plain() {
        assert_eq!(words("rg x 2>/dev/null | wc -l").expect("plain").len(), 2);
        assert_eq!(words("ls > /dev/null 2>&1").expect("plain"), [["ls"]]);
        assert_eq!(words("ls &>/dev/null").expect("plain"), [["ls"]]);
        assert_eq!(words("ls &>/dev/null && pwd").expect("plain").len(), 2);
        for line in [
            "ls > x",
            "ls >> x",
            "ls 2> x",
            "cat < x",
            "cat <<EOF",
            "ls > /dev/nullx",
            ">/dev/null",
            "ls >&3",
            "ls >| x",
            "a <(b)",
        ] {
            assert_eq!(words(line), None, "{line}");
        }
    }

    #[test]
    fn lines_that_do_more_than_their_words_show_are_not_plain() {
        for line in [
            "echo $(id)",
            "echo `id`",
            "echo \"$(id)\"",
            "echo ${x}",
            "(ls)",
            "{ ls; }",
            "ls &",
            "ls & id",
            "if true; then ls; fi",
            "for x in a; do ls; done",
            "A=1 ls",
            "PATH+=x ls",
            "f() { ls; }",
            "! ls",
            "echo $'a'",
            "echo \"$\\\n(id)\"",
            "echo \"$\\\n{x}\"",
            "echo $\\\nHOME",
            "ls &>/dev/null rm x",
            "ls &> /dev/null 2>&1 rm x",
            "ls &>/dev/null >/dev/null rm x",
            "ls # x",
            "a |& b",
            "a | ",
            "a &&",
            "&& a",
            "",
            ";",
            "a ;; b",
            "echo 'open",
            "echo \"open",
            "echo \\",
            "ls {a,b}",
            "!!",
            "a\0b",
        ] {
            assert_eq!(words(line), None, "{line}");
        }
    }

    #[test]
    fn what_the_shell_puts_in_is_marked() {
        for (line, expansion) in [
            ("ls *.rs", Expansion::Some),
            ("ls '*.rs'", Expansion::None),
            ("ls ~", Expansion::Some),
            ("ls a~", Expansion::None),
            ("ls $HOME", Expansion::Some),
            ("ls \"$HOME\"", Expansion::Some),
            ("ls a[1]", Expansion::Some),
            ("echo 5$", Expansion::None),
            ("echo \"5$,\"", Expansion::None),
            ("cat $=X", Expansion::Some),
        ] {
            assert_eq!(parse(line).expect("is valid")[0].expansion, expansion, "{line}");
        }
    }

    #[test]
    fn limits_hold() {
        let many = vec!["a"; MAX_COMMANDS].join(";");
        assert_eq!(parse(&many).expect("is valid").len(), MAX_COMMANDS);
        assert_eq!(parse(&format!("{many};a")), None);
        assert_eq!(parse(&"a".repeat(MAX_LINE_BYTES + 1)), None);
    }

    proptest::proptest! {
        #[test]
        fn quoted_words_come_back(words in proptest::collection::vec("[^\\x00!\\n]{0,12}", 1..5)) {
            let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
            let line = format!("echo {}", quoted.join(" "));
            let commands = parse(&line).expect("plain");
            proptest::prop_assert_eq!(&commands[0].words[1..], &words[..]);
        }

        #[test]
        fn nothing_panics(line in "\\PC{0,60}|[ a$`'\"\\\\;&|<>(){}#~*\n-]{0,40}") {
            let _ = parse(&line);
        }
    }
}
