//! What was found or replaced, and where; never the secrets themselves.

use std::collections::BTreeMap;

use serde::Serialize;

use super::placeholder::Placeholder;

/// Most places that are listed of one secret; further ones are counted.
pub const MAX_PLACES: usize = 20;

/// What a search or a redaction found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// The secrets, by kind and hash.
    pub secrets: Vec<SecretReport>,
    /// Documents (payloads, lines of the log, the manifest and other files) that were looked at.
    pub documents: u64,
    /// Documents that hold a secret.
    pub documents_with_secrets: u64,
    /// Documents that are not JSON, and were searched as they are.
    pub damaged: Vec<Place>,
    /// Files that cannot be read. They were not searched, and are not in the output.
    pub unreadable: Vec<Unreadable>,
    /// Copies that a repair kept, and what is no plain file. They are not in a copy.
    pub left_out: Vec<String>,
}

/// One secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecretReport {
    /// Its kind.
    pub kind: String,
    /// Its hash, as it is in the placeholder.
    pub hash: String,
    /// How often it occurs.
    pub occurrences: u64,
    /// How many documents it occurs in.
    pub documents: u64,
    /// The first of those documents, [`MAX_PLACES`] at most.
    pub places: Vec<Place>,
}

/// A document of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The manifest, or another file of its own.
    File {
        /// Name of the file.
        path: String,
    },
    /// A line of the log.
    Event {
        /// Number of the line, from 1.
        line: u64,
        /// Sequence number of the event, if the line has one.
        seq: Option<u64>,
    },
    /// A payload file.
    Payload {
        /// Path below the bundle.
        path: String,
    },
}

/// A file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Path below the bundle.
    pub path: String,
    /// Why.
    pub reason: String,
}

impl Report {
    /// Returns whether nothing was found, and nothing is left that could not be searched.
    pub fn is_clean(&self) -> bool {
        self.secrets.is_empty() && self.unreadable.is_empty()
    }

    /// Returns the number of places where a secret was.
    pub fn occurrences(&self) -> u64 {
        self.secrets.iter().map(|secret| secret.occurrences).sum()
    }
}

/// Counts placeholders, document by document.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    secrets: BTreeMap<Placeholder, (u64, u64, Vec<Place>)>,
    documents_with_secrets: u64,
}

impl Tally {
    /// Adds the placeholders of one document. Documents have to come in order.
    pub(crate) fn add(&mut self, counts: BTreeMap<Placeholder, u64>, place: &Place) {
        self.documents_with_secrets += u64::from(!counts.is_empty());
        for (placeholder, count) in counts {
            let (occurrences, documents, places) = self.secrets.entry(placeholder).or_default();
            *occurrences += count;
            *documents += 1;
            if places.len() < MAX_PLACES {
                places.push(place.clone());
            }
        }
    }

    /// Writes the counts into a report.
    pub(crate) fn finish(self, report: &mut Report) {
        report.documents_with_secrets = self.documents_with_secrets;
        report.secrets = self
            .secrets
            .into_iter()
            .map(|(placeholder, (occurrences, documents, places))| SecretReport {
                kind: placeholder.kind.as_str().to_owned(),
                hash: format!("{:08x}", placeholder.hash),
                occurrences,
                documents,
                places,
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::kind::Kind;

    #[test]
    fn places_beyond_the_limit_are_counted() {
        let placeholder = Placeholder { kind: Kind::known("token"), hash: 7 };
        let mut tally = Tally::default();
        for line in 0..MAX_PLACES as u64 + 5 {
            tally.add(BTreeMap::from([(placeholder.clone(), 2)]), &Place::Event { line, seq: None });
        }
        let mut report = Report::default();
        tally.finish(&mut report);
        let secret = &report.secrets[0];
        assert_eq!((secret.places.len(), secret.documents, secret.occurrences), (MAX_PLACES, 25, 50));
    }
}
