//! Files with tokens and secrets: the only place where they are read.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Largest file, in bytes, from which a token or a secret is read.
pub const MAX_SECRET_FILE_BYTES: u64 = 64 << 10;

/// Prefix of a file that contains the SHA-256 digest of a token instead of the token.
pub const DIGEST_PREFIX: &[u8] = b"sha256:";

/// Permissions that such a file must not have: all those of the group and of other users.
const OTHERS: u32 = 0o077;

/// Why a file holds no token or secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// The file could not be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Other users can read the file, and so know what it holds.
    #[error("other users can read {} (mode {mode:03o}); `chmod 600` it, or make a new one if they may have", path.display())]
    Shared {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file is longer than [`MAX_SECRET_FILE_BYTES`].
    #[error("{} is longer than {MAX_SECRET_FILE_BYTES} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// The file is empty.
    #[error("{} contains no token", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file is not UTF-8.
    #[error("{} is not text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
}

/// Reads a token or a secret, without the white space around it.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is too long or empty, or can be read by other users.
pub fn read(path: &Path) -> Result<Vec<u8>, SecretFileError> {
    read_if(path, |_| false)
}

/// Reads a token, or its digest after [`DIGEST_PREFIX`], which others may read.
///
/// # Errors
///
/// Returns an error as [`read`] does.
pub fn read_token_or_digest(path: &Path) -> Result<Vec<u8>, SecretFileError> {
    read_if(path, |content| content.starts_with(DIGEST_PREFIX))
}

fn read_if(path: &Path, is_public: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>, SecretFileError> {
    let unreadable = |source| SecretFileError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o777;
    let mut content = Vec::new();
    file.take(MAX_SECRET_FILE_BYTES + 1).read_to_end(&mut content).map_err(unreadable)?;
    if content.len() as u64 > MAX_SECRET_FILE_BYTES {
        return Err(SecretFileError::TooLong { path: path.to_owned() });
    }
    let content = content.trim_ascii();
    if content.is_empty() {
        return Err(SecretFileError::Empty { path: path.to_owned() });
    }
    if mode & OTHERS != 0 && !is_public(content) {
        return Err(SecretFileError::Shared { path: path.to_owned(), mode });
    }
    Ok(content.to_vec())
}

/// Reads a token or a secret that is text.
///
/// # Errors
///
/// Returns an error as [`read`] does, or if the file is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, SecretFileError> {
    String::from_utf8(read(path)?).map_err(|_| SecretFileError::NotText { path: path.to_owned() })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn only_private_files_hold_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let read_with = |content: &[u8], mode| {
            std::fs::write(&path, content).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            read_text(&path)
        };
        assert_eq!(read_with(b"  secret\n", 0o600).unwrap(), "secret");
        assert_eq!(read_with(b"secret", 0o400).unwrap(), "secret");
        for mode in [0o640, 0o604, 0o660, 0o610] {
            let error = read_with(b"secret", mode).unwrap_err();
            assert!(matches!(error, SecretFileError::Shared { mode: found, .. } if found == mode), "{error}");
        }
        assert!(read_with(b"sha256:ab", 0o644).is_err(), "a secret may look like a digest");
        assert!(read_token_or_digest(&path).is_ok(), "a digest is no secret");
        assert!(matches!(read_with(b" \n", 0o600), Err(SecretFileError::Empty { .. })));
        assert!(matches!(read_with(b"\xff", 0o600), Err(SecretFileError::NotText { .. })));
        let most = usize::try_from(MAX_SECRET_FILE_BYTES).unwrap();
        assert!(read_with(&vec![b'x'; most], 0o600).is_ok());
        assert!(matches!(read_with(&vec![b'x'; most + 1], 0o600), Err(SecretFileError::TooLong { .. })));
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(read(&path), Err(SecretFileError::Unreadable { .. })));
    }
}
