//! Finds the words of a configured command that may be files.
//!
//! Git passes such commands to a shell, and what the shell makes of them cannot be known beforehand. So this
//! over-approximates: it returns the words as the shell splits them, quotes removed, and the parts of each, because a word
//! may be a command itself (`sh -c "..."`). A variable or a substitution at the start of a path is taken for the work tree,
//! which is the usual meaning (`"$(git rev-parse --show-toplevel)"/x`, `$PWD/x`). A word that is not a file does no harm.

/// Characters between words of a command, whether or not the shell splits there.
const BETWEEN: [char; 17] = [' ', '\t', '\n', '\'', '"', ';', '&', '|', '(', ')', '$', '=', '`', '<', '>', '{', '}'];

/// Stands for a variable or a substitution.
const UNKNOWN: char = '\0';

/// Returns the words of a command in order, without duplicates.
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
            // Skip the name of a variable, or the end of a substitution or quotes around it.
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

/// Splits a command as a shell does, and removes quotes and backslashes.
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

/// Skips a variable or a substitution after its first character `first`. Its content is found by splitting the command into
/// parts.
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
