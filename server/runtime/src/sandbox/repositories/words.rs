//! Words of a configured command that may be files.
//!
//! Git hands such commands to a shell, and nobody can tell beforehand what a shell makes of them. So this is generous: words count as the shell
//! splits them, quotes included, and the pieces of each, since a word may itself be a command (`sh -c "..."`). What stands behind a
//! variable or a substitution is taken for a path in the work tree: that is what people write there (`"$(git rev-parse --show-toplevel)"/x`,
//! `$PWD/x`). A word that is no file costs nothing.

/// What stands between words of a command, whether the shell splits there or not.
const BETWEEN: [char; 17] = [' ', '\t', '\n', '\'', '"', ';', '&', '|', '(', ')', '$', '=', '`', '<', '>', '{', '}'];

/// What stands in the place of a variable or a substitution.
const UNKNOWN: char = '\0';

/// Returns the words of a command, each once, in their order.
pub(super) fn of_command(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut add = |word: &str| {
        if !word.is_empty() && !word.contains("://") && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    };
    let mut before = None;
    for piece in command.split_inclusive(BETWEEN) {
        let (word, end) = match piece.char_indices().next_back() {
            Some((at, end)) if BETWEEN.contains(&end) => (&piece[..at], Some(end)),
            _ => (piece, None),
        };
        add(word);
        match before {
            // Behind the name of a variable, and behind a substitution or quotes around it.
            Some('$' | '{') => word.split_once('/').into_iter().for_each(|(_, rest)| add(rest)),
            Some(')' | '}' | '"' | '\'' | '`') => word.strip_prefix('/').into_iter().for_each(&mut add),
            _ => {}
        }
        before = end;
    }
    for word in as_shell(command) {
        match word.rsplit_once(UNKNOWN) {
            None => add(&word),
            Some((_, rest)) => add(rest.trim_start_matches('/')),
        }
    }
    for variable in ["$HOME/", "${HOME}/"] {
        for (at, _) in command.match_indices(variable) {
            let rest = command[at + variable.len()..].split(BETWEEN).next().unwrap_or_default();
            add(&format!("~/{rest}"));
        }
    }
    words
}

/// Splits a command where a shell does, and takes quotes and backslashes away.
fn as_shell(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut chars = command.chars().peekable();
    while let Some(char) = chars.next() {
        let word = words.last_mut().expect("there is one");
        match (quote, char) {
            (Some(open), char) if open == char => quote = None,
            (None, '\'' | '"') => quote = Some(char),
            (Some('"') | None, '\\') => word.extend(chars.next()),
            (Some('"') | None, '$' | '`') => {
                word.push(UNKNOWN);
                substitution(&mut chars, char);
            }
            (None, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' | '=') => words.push(String::new()),
            (_, char) => word.push(char),
        }
    }
    words
}

/// Passes over a variable or a substitution whose first character was read. The pieces of the command name what is in it.
fn substitution(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, first: char) {
    let close = match (first, chars.peek()) {
        ('`', _) => '`',
        (_, Some('(')) => ')',
        (_, Some('{')) => '}',
        _ => {
            while chars.next_if(|char| char.is_ascii_alphanumeric() || *char == '_').is_some() {}
            return;
        }
    };
    let mut depth = 0_usize;
    for char in chars {
        match char {
            '(' | '{' => depth += 1,
            char if char == close && depth <= 1 => return,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_behind_variables_and_in_quotes() {
        for (command, expected) in [
            ("\"$(git rev-parse --show-toplevel)\"/tools/clean.sh", "tools/clean.sh"),
            ("$(git rev-parse --show-toplevel)/tools/clean.sh --x", "tools/clean.sh"),
            ("`pwd`/tools/clean.sh", "tools/clean.sh"),
            ("sh $PWD/tools/clean.sh", "tools/clean.sh"),
            ("sh \"${PWD}/tools/clean.sh\"", "tools/clean.sh"),
            ("\"${GIT_WORK_TREE:-$(pwd)}/tools/clean.sh\"", "tools/clean.sh"),
            ("python3 \"my tools/clean.py\"", "my tools/clean.py"),
            ("python3 'my tools/clean.py'", "my tools/clean.py"),
            ("python3 my\\ tools/clean.py", "my tools/clean.py"),
            ("sh -c 'exec tools/clean.sh \"$1\"' -", "tools/clean.sh"),
            ("$HOME/bin/clean", "~/bin/clean"),
            ("x --rules=tools/rules", "tools/rules"),
        ] {
            let words = of_command(command);
            assert!(words.iter().any(|word| word == expected), "{command}: {words:?}");
        }
        assert_eq!(of_command("curl https://example.org/x"), ["curl"]);
    }
}
