//! The secrets that were found anywhere in a bundle, so that they are replaced everywhere in it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::found::{Evidence, Found};
use super::kind::Kind;
use super::placeholder::Placeholder;
use super::plausible::{MIN_SPREAD_BYTES, is_distinctive};
use super::rules::Rules;

/// Most secrets that are searched for in the whole bundle. Those beyond are replaced only where they were found.
pub const MAX_SECRETS: usize = 1 << 16;

/// Levels of JSON in JSON whose escapes a secret is searched for in, besides being searched for as it is.
const ESCAPE_LEVELS: usize = 3;

/// Most bytes of a cut secret that are looked for before and after the place of a cut.
const MAX_CUT_BYTES: usize = 512;

/// Most cuts that are looked at in one text.
const MAX_CUTS: usize = 256;

/// Secrets as they are gathered, by what they are.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    secrets: BTreeMap<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    evidence: Evidence,
    kind: Kind,
    aliases: BTreeSet<String>,
}

/// A secret without its place.
#[derive(Debug, Clone)]
pub(crate) struct Secret {
    pub(crate) identity: String,
    pub(crate) evidence: Evidence,
    pub(crate) kind: Kind,
    pub(crate) aliases: Vec<String>,
}

impl Secret {
    /// Takes a secret out of the text that it was found in.
    pub(crate) fn of(text: &str, found: &Found) -> Self {
        let written = &text[found.span.clone()];
        let mut aliases = found.aliases.clone();
        let mut identity = found.identity.clone().unwrap_or_else(|| written.to_owned());
        // Code and damaged JSON write a secret with escapes.
        if found.identity.is_none()
            && found.evidence == Evidence::Context
            && written.contains('\\')
            && let Ok(decoded) = serde_json::from_str::<String>(&format!("\"{written}\""))
        {
            aliases.push(std::mem::replace(&mut identity, decoded));
        }
        Self { identity, evidence: found.evidence, kind: found.kind.clone(), aliases }
    }
}

impl Gathered {
    /// Adds a secret. The result does not depend on the order in which secrets come.
    pub(crate) fn add(&mut self, secret: Secret) {
        let Secret { identity, evidence, kind, aliases } = secret;
        let entry = self.secrets.entry(identity).or_insert_with(|| Entry {
            evidence,
            kind: kind.clone(),
            aliases: BTreeSet::new(),
        });
        if (evidence, &kind) < (entry.evidence, &entry.kind) {
            (entry.evidence, entry.kind) = (evidence, kind);
        }
        entry.aliases.extend(aliases);
    }
}

/// All secrets of a bundle, ready to be searched for.
#[derive(Debug, Default)]
pub(crate) struct Known {
    by_identity: HashMap<String, (Evidence, Placeholder)>,
    automaton: Option<AhoCorasick>,
    /// The secret that each searched text belongs to.
    needles: Vec<Needle>,
    /// Needles by their first bytes, and by their last.
    heads: HashMap<[u8; MIN_SPREAD_BYTES], Vec<u32>>,
    tails: HashMap<[u8; MIN_SPREAD_BYTES], Vec<u32>>,
    names: Option<(AhoCorasick, Vec<NewName>)>,
}

/// The new name of a file, in place of one with a secret in it.
#[derive(Debug, Clone)]
pub(crate) struct NewName {
    pub(crate) text: String,
    /// The secrets that were in the old one.
    pub(crate) marks: Vec<Placeholder>,
}

#[derive(Debug)]
struct Needle {
    text: String,
    evidence: Evidence,
    placeholder: Placeholder,
}

/// A known secret at a place of a text.
#[derive(Debug)]
pub(crate) struct Hit<'a> {
    pub(crate) span: Range<usize>,
    pub(crate) evidence: Evidence,
    pub(crate) placeholder: &'a Placeholder,
}

impl Known {
    /// Prepares the search for what was gathered and for the user's own values.
    pub(crate) fn new(rules: &Rules, mut gathered: Gathered) -> Self {
        for (kind, value) in rules.literals() {
            let (identity, kind) = (value.clone(), kind.clone());
            gathered.add(Secret { identity, evidence: Evidence::Literal, kind, aliases: Vec::new() });
        }
        let mut known = Self::default();
        let mut texts: BTreeMap<String, (Evidence, Placeholder)> = BTreeMap::new();
        if gathered.secrets.len() > MAX_SECRETS {
            tracing::warn!(secrets = gathered.secrets.len(), "too many secrets to search for each everywhere");
        }
        for (index, (identity, entry)) in gathered.secrets.into_iter().enumerate() {
            let placeholder = rules.placeholder(&entry.kind, &identity);
            known.by_identity.insert(identity.clone(), (entry.evidence, placeholder.clone()));
            if index >= MAX_SECRETS && entry.evidence != Evidence::Literal {
                continue;
            }
            for text in std::iter::once(identity).chain(entry.aliases) {
                if entry.evidence == Evidence::Literal || is_distinctive(&text) {
                    for spelling in spellings(text) {
                        texts.entry(spelling).or_insert_with(|| (entry.evidence, placeholder.clone()));
                    }
                }
            }
        }
        known.search_for(texts);
        known
    }

    fn search_for(&mut self, texts: BTreeMap<String, (Evidence, Placeholder)>) {
        for (text, (evidence, placeholder)) in texts {
            let index = self.needles.len() as u32;
            // The first bytes of a key are those of its marker, which all keys have in common.
            if let Some(head) = text.as_bytes().first_chunk().filter(|_| !text.starts_with("-----")) {
                self.heads.entry(*head).or_default().push(index);
            }
            if let Some(tail) = text.as_bytes().last_chunk().filter(|_| !text.ends_with("-----")) {
                self.tails.entry(*tail).or_default().push(index);
            }
            self.needles.push(Needle { text, evidence, placeholder });
        }
        if !self.needles.is_empty() {
            let built = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(self.needles.iter().map(|needle| &needle.text));
            // Building fails only if it needs more than 2^31 states.
            self.automaton = built.inspect_err(|error| tracing::error!(%error, "secrets cannot be searched for")).ok();
        }
    }

    /// Adds the old names of files to the search, so that texts that refer to a file get its new name.
    pub(crate) fn rename(&mut self, names: BTreeMap<String, NewName>) {
        let spelt =
            names.into_iter().flat_map(|(old, new)| spellings(old).into_iter().map(move |text| (text, new.clone())));
        let (texts, names): (Vec<String>, Vec<NewName>) = spelt.unzip();
        if texts.is_empty() {
            return;
        }
        let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts);
        self.names = built
            .inspect_err(|error| tracing::error!(%error, "names of files cannot be searched for"))
            .ok()
            .map(|automaton| (automaton, names));
    }

    /// Finds the old names of files in a text, each with its new one.
    pub(crate) fn names<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Range<usize>, &'a NewName)> {
        self.names.iter().flat_map(move |(automaton, names)| {
            automaton.find_iter(text).map(|hit| (hit.range(), &names[hit.pattern().as_usize()]))
        })
    }

    /// Returns the placeholder of a secret, however it was found.
    pub(crate) fn placeholder(&self, rules: &Rules, identity: &str, kind: &Kind) -> Placeholder {
        self.by_identity
            .get(identity)
            .map_or_else(|| rules.placeholder(kind, identity), |(_, placeholder)| placeholder.clone())
    }

    /// Returns whether there is nothing to search for.
    pub(crate) fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }

    /// Returns whether any known secret is among the bytes.
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        self.automaton.as_ref().is_some_and(|automaton| automaton.is_match(bytes))
    }

    /// Finds the known secrets in a text.
    pub(crate) fn hits<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Hit<'a>> {
        self.automaton.iter().flat_map(move |automaton| automaton.find_iter(text)).map(|hit| {
            let needle = &self.needles[hit.pattern().as_usize()];
            Hit { span: hit.range(), evidence: needle.evidence, placeholder: &needle.placeholder }
        })
    }

    /// Finds what is left of known secrets beside the places where a preview or an output was cut.
    pub(crate) fn cut_hits<'a>(&'a self, text: &'a str) -> Vec<Hit<'a>> {
        let mut hits = Vec::new();
        if self.needles.is_empty() {
            return hits;
        }
        let bytes = text.as_bytes();
        let dots = memchr::memmem::find_iter(bytes, "...").map(|at| at..at + 3);
        let ellipses = memchr::memmem::find_iter(bytes, "…").map(|at| at..at + "…".len());
        for cut in dots.chain(ellipses).take(MAX_CUTS) {
            hits.extend(self.head_before(text, cut.start));
            hits.extend(self.tail_behind(text, cut.end));
        }
        hits
    }

    fn head_before<'a>(&'a self, text: &'a str, cut: usize) -> Option<Hit<'a>> {
        let bytes = text.as_bytes();
        (cut.saturating_sub(MAX_CUT_BYTES)..=cut.checked_sub(MIN_SPREAD_BYTES)?).find_map(|start| {
            let piece = &bytes[start..cut];
            let candidates = self.heads.get(piece.first_chunk()?)?;
            let index = candidates.iter().find(|index| self.needle(**index).text.as_bytes().starts_with(piece))?;
            Some(self.hit(*index, start..cut))
        })
    }

    fn tail_behind<'a>(&'a self, text: &'a str, cut: usize) -> Option<Hit<'a>> {
        let bytes = text.as_bytes();
        let last = bytes.len().min(cut + MAX_CUT_BYTES);
        (cut + MIN_SPREAD_BYTES..=last).rev().find_map(|end| {
            let piece = &bytes[cut..end];
            let candidates = self.tails.get(piece.last_chunk()?)?;
            let index = candidates.iter().find(|index| self.needle(**index).text.as_bytes().ends_with(piece))?;
            Some(self.hit(*index, cut..end))
        })
    }

    fn needle(&self, index: u32) -> &Needle {
        &self.needles[index as usize]
    }

    fn hit(&self, index: u32, span: Range<usize>) -> Hit<'_> {
        let needle = self.needle(index);
        Hit { span, evidence: needle.evidence, placeholder: &needle.placeholder }
    }
}

/// Returns the ways in which a secret may be written inside other texts: as it is, in JSON, in JSON in JSON, in URLs.
fn spellings(text: String) -> Vec<String> {
    let mut spellings = vec![text];
    for level in 0..ESCAPE_LEVELS {
        let Ok(quoted) = serde_json::to_string(&spellings[level]) else { break };
        if quoted.len() - 2 == spellings[level].len() {
            break;
        }
        spellings.push(quoted[1..quoted.len() - 1].to_owned());
    }
    let in_url: String = percent_encoding::utf8_percent_encode(&spellings[0], UNRESERVED).collect();
    if in_url != spellings[0] {
        spellings.push(in_url);
    }
    spellings
}

/// What a URL writes as it is, within a value.
const UNRESERVED: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "a1b2/c3\"d4e5";

    fn known() -> Known {
        let rules = Rules::default().with_literal(SECRET).expect("long enough");
        Known::new(&rules, Gathered::default())
    }

    #[test]
    fn every_spelling_of_a_secret_is_found() {
        let known = known();
        for written in [SECRET, r#"a1b2/c3\"d4e5"#, r#"a1b2/c3\\\"d4e5"#, "a1b2%2Fc3%22d4e5"] {
            let text = format!("x{written}y");
            let hits: Vec<_> = known.hits(&text).map(|hit| (hit.span.start, hit.span.len())).collect();
            assert_eq!(hits, [(1, written.len())], "{text}");
        }
    }

    #[test]
    fn no_more_secrets_than_the_limit_are_searched_for_but_all_that_the_user_gave() {
        let mut gathered = Gathered::default();
        let identity = |number: usize| format!("k{number:08}x7Qz");
        for number in 0..=MAX_SECRETS {
            gathered.add(Secret {
                identity: identity(number),
                evidence: Evidence::Context,
                kind: Kind::known("a"),
                aliases: Vec::new(),
            });
        }
        let rules = Rules::default().with_literal("zzzz the last of all").expect("long enough");
        let known = Known::new(&rules, gathered);
        let found = |text: &str| known.hits(text).count();
        assert_eq!(found(&identity(MAX_SECRETS - 1)), 1);
        assert_eq!(found(&identity(MAX_SECRETS)), 0);
        assert_eq!(found("it is zzzz the last of all"), 1);
    }

    #[test]
    fn pieces_beside_a_cut_are_found() {
        let known = known();
        let pieces = |text: &str| {
            let hits = known.cut_hits(text);
            hits.into_iter().map(|hit| text[hit.span].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(pieces("x a1b2/c3\"..."), ["a1b2/c3\""]);
        assert_eq!(pieces("x a1b2/c3\"d…7 more…2/c3\"d4e5 y"), ["a1b2/c3\"d", "2/c3\"d4e5"]);
        assert_eq!(pieces("x a1b2/c3... d4e5"), [""; 0]);
    }

    #[test]
    fn no_more_cuts_than_the_limit_are_looked_at_and_none_farther_than_the_limit() {
        let known = known();
        let text = |cuts: usize| format!("{}x a1b2/c3\"...", "... ".repeat(cuts));
        assert_eq!(known.cut_hits(&text(MAX_CUTS - 1)).len(), 1);
        assert_eq!(known.cut_hits(&text(MAX_CUTS)).len(), 0);
        let long = format!("{SECRET}{}", "0".repeat(MAX_CUT_BYTES));
        let known = Known::new(&Rules::default().with_literal(&long).expect("long enough"), Gathered::default());
        assert_eq!(known.cut_hits(&format!("{}...", &long[..MAX_CUT_BYTES])).len(), 1);
        assert_eq!(known.cut_hits(&format!("{}...", &long[..=MAX_CUT_BYTES])).len(), 0);
    }

    #[test]
    fn the_order_of_gathering_does_not_matter() {
        let secret = |evidence, kind| Secret { identity: SECRET.to_owned(), evidence, kind, aliases: Vec::new() };
        let secrets = [
            secret(Evidence::Context, Kind::known("a")),
            secret(Evidence::Shape, Kind::known("c")),
            secret(Evidence::Shape, Kind::known("b")),
        ];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let mut gathered = Gathered::default();
            for index in order {
                gathered.add(secrets[index].clone());
            }
            let known = Known::new(&Rules::default(), gathered);
            assert_eq!(known.placeholder(&Rules::default(), SECRET, &Kind::known("z")).kind.as_str(), "b");
        }
    }
}
