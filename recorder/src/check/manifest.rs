//! Checks the manifest on its own. Whether the log agrees with it is checked with the log.

use super::finding::{Code, Finding, Findings};
use crate::bundle::{Bundle, BundleError};
use crate::format::{EVENT_LOG_FILE, MANIFEST_FILE, PAYLOADS_DIR};

pub(super) fn check_manifest(bundle: &Bundle, findings: &mut Findings) {
    let manifest = match bundle.manifest() {
        Ok(manifest) => manifest,
        Err(error) if error.is_missing() => {
            let message = "the manifest is missing; the log can replace it";
            findings.push(Finding::new(Code::ManifestMissing, message).of_file(MANIFEST_FILE));
            return;
        }
        Err(error) => {
            let message = format!("the manifest cannot be read: {}", describe(error));
            findings.push(Finding::new(Code::ManifestInvalid, message).of_file(MANIFEST_FILE));
            return;
        }
    };
    if let Err(error) = manifest.schema_version.check_readable() {
        findings.push(Finding::new(Code::UnknownSchema, error.to_string()).of_file(MANIFEST_FILE));
    }
    for (field, named, usual) in [
        ("raw_event_log", &manifest.raw_event_log, EVENT_LOG_FILE),
        ("payloads_dir", &manifest.payloads_dir, PAYLOADS_DIR),
    ] {
        if named != usual {
            let message = format!("`{field}` is `{named}`, but readers use `{usual}`");
            findings.push(Finding::new(Code::ManifestNames, message).of_file(MANIFEST_FILE));
        }
    }
}

/// Returns the message of an error without the path, because the finding names the path.
pub(super) fn describe(error: &BundleError) -> String {
    match error {
        BundleError::Io { source, .. } => source.to_string(),
        BundleError::Manifest { source, .. } => source.to_string(),
        error => error.to_string(),
    }
}
