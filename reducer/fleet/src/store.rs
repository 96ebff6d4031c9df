//! Where lakes and packed sessions are: a folder, or a bucket of S3, Google Cloud Storage or Azure.

use std::path::Path as FilePath;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use url::Url;

/// Most bytes of one small object (a commit record, a receipt) that are read into memory.
pub const MAX_SMALL_OBJECT_BYTES: u64 = 256 << 20;

/// Schemes of the stores.
pub const SCHEMES: &str = "file, s3, gs, az";

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The text is neither a URL nor a path.
    #[error("{text} is not the URL of a store: {reason}")]
    Url {
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The store cannot be opened.
    #[error("{url} cannot be opened")]
    Open {
        /// URL of the store.
        url: String,
        /// Cause of the error.
        source: object_store::Error,
    },
    /// A request failed.
    #[error("cannot {action} {path}")]
    Request {
        /// What was tried, as a verb.
        action: &'static str,
        /// Path of the object.
        path: String,
        /// Cause of the error.
        source: object_store::Error,
    },
    /// An object is larger than anything of its kind can be.
    #[error("{path} has {bytes} bytes; at most {MAX_SMALL_OBJECT_BYTES} are read")]
    TooLarge {
        /// Path of the object.
        path: String,
        /// Its size in bytes.
        bytes: u64,
    },
}

impl StoreError {
    /// Returns whether the object is not there.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Request { source: object_store::Error::NotFound { .. }, .. })
    }
}

/// A folder of a store.
#[derive(Debug, Clone)]
pub struct Store {
    store: Arc<dyn ObjectStore>,
    root: Path,
    url: Url,
}

/// Whether an object was created, or was there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// It was created.
    New,
    /// It was there, and was left as it is.
    Existing,
}

/// An object of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Path relative to the root of the store.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was written, in milliseconds since the Unix epoch.
    pub modified_unix_ms: i64,
    /// What the store changes with the content of the object.
    pub e_tag: Option<String>,
}

/// Returns the URL that a text names: a URL with a scheme, or a path.
///
/// # Errors
///
/// Returns an error if the text has a scheme and is no URL, or the path has no absolute form.
pub fn url_of(text: &str) -> Result<Url, StoreError> {
    let error = |reason: &dyn ToString| StoreError::Url { text: text.to_owned(), reason: reason.to_string() };
    if text.contains("://") {
        return Url::parse(text).map_err(|reason| error(&reason));
    }
    let path = std::path::absolute(FilePath::new(text)).map_err(|reason| error(&reason))?;
    Url::from_file_path(path).map_err(|()| error(&"the path cannot be written as a URL"))
}

impl Store {
    /// Opens a store. The options are those of `object_store`, such as `aws_region` or `aws_endpoint`; unknown ones are
    /// ignored. The folder of a `file` store is created.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL has no known scheme, or the options do not fit.
    pub fn open(text: &str, options: &[(String, String)]) -> Result<Self, StoreError> {
        let url = url_of(text)?;
        if url.scheme() == "file" {
            let path = url.to_file_path().map_err(|()| StoreError::Url {
                text: text.to_owned(),
                reason: "it names another machine".to_owned(),
            })?;
            let unusable = |source: std::io::Error| StoreError::Open {
                url: url.to_string(),
                source: object_store::Error::Generic { store: "file", source: source.into() },
            };
            std::fs::create_dir_all(&path).map_err(unusable)?;
            let store = object_store::local::LocalFileSystem::new_with_prefix(&path)
                .map_err(|source| StoreError::Open { url: url.to_string(), source })?;
            return Ok(Self { store: Arc::new(store), root: Path::default(), url });
        }
        let options = options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let (store, root) = object_store::parse_url_opts(&url, options)
            .map_err(|source| StoreError::Open { url: url.to_string(), source })?;
        Ok(Self { store: Arc::from(store), root, url })
    }

    /// Makes a store of any kind. `url` is shown in messages and addresses.
    pub fn with(store: Arc<dyn ObjectStore>, root: Path, url: Url) -> Self {
        Self { store, root, url }
    }

    /// Returns the store below.
    pub fn object_store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// Returns the URL of the folder.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the path of an object in the store below.
    pub fn full_path(&self, path: &str) -> Path {
        path.split('/').filter(|part| !part.is_empty()).fold(self.root.clone(), |path, part| path.join(part))
    }

    /// Returns the URL of an object, which is its address.
    pub fn address(&self, path: &str) -> String {
        format!("{}/{path}", self.url.as_str().trim_end_matches('/'))
    }

    fn error(action: &'static str, path: &str) -> impl FnOnce(object_store::Error) -> StoreError {
        move |source| StoreError::Request { action, path: path.to_owned(), source }
    }

    /// Reads a small object.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not there, is larger than [`MAX_SMALL_OBJECT_BYTES`], or the request fails.
    pub async fn read(&self, path: &str) -> Result<Bytes, StoreError> {
        let error = Self::error("read", path);
        let got = self.store.get_opts(&self.full_path(path), GetOptions::default()).await;
        let got = match got {
            Ok(got) if got.meta.size > MAX_SMALL_OBJECT_BYTES => {
                return Err(StoreError::TooLarge { path: path.to_owned(), bytes: got.meta.size });
            }
            Ok(got) => got,
            Err(source) => return Err(error(source)),
        };
        got.bytes().await.map_err(Self::error("read", path))
    }

    /// Writes an object, in place of any that is there.
    ///
    /// # Errors
    ///
    /// Returns an error if the request fails.
    pub async fn write(&self, path: &str, content: impl Into<PutPayload>) -> Result<(), StoreError> {
        self.store.put(&self.full_path(path), content.into()).await.map_err(Self::error("write", path))?;
        Ok(())
    }

    /// Creates an object, unless it is there already. A request that the store carried out and whose answer was lost may be
    /// reported as [`Created::Existing`]: a caller has to compare what is there with what it wrote.
    ///
    /// # Errors
    ///
    /// Returns an error if the request fails. The object may have been created.
    pub async fn create(&self, path: &str, content: impl Into<PutPayload>) -> Result<Created, StoreError> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store.put_opts(&self.full_path(path), content.into(), options).await {
            Ok(_) => Ok(Created::New),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                Ok(Created::Existing)
            }
            Err(source) => Err(Self::error("create", path)(source)),
        }
    }

    /// Looks at an object. Returns `None` if it is not there.
    ///
    /// # Errors
    ///
    /// Returns an error if the request fails.
    pub async fn look(&self, path: &str) -> Result<Option<Listed>, StoreError> {
        match self.store.head(&self.full_path(path)).await {
            Ok(meta) => Ok(Some(self.listed(meta))),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(Self::error("look at", path)(source)),
        }
    }

    /// Deletes an object. It is no error if it is not there.
    ///
    /// # Errors
    ///
    /// Returns an error if the request fails.
    pub async fn delete(&self, path: &str) -> Result<(), StoreError> {
        match self.store.delete(&self.full_path(path)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(Self::error("delete", path)(source)),
        }
    }

    /// Lists the objects below a folder in the order of their paths; with `after`, only those whose paths are greater.
    ///
    /// # Errors
    ///
    /// Returns an error if a request fails.
    pub async fn list(&self, folder: &str, after: Option<&str>) -> Result<Vec<Listed>, StoreError> {
        let prefix = self.full_path(folder);
        let prefix = (!prefix.as_ref().is_empty()).then_some(&prefix);
        let found = match after {
            Some(after) => self.store.list_with_offset(prefix, &self.full_path(after)),
            None => self.store.list(prefix),
        };
        let found = found.map(|meta| meta.map(|meta| self.listed(meta)));
        let mut found: Vec<Listed> = found.try_collect().await.map_err(Self::error("list", folder))?;
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    fn listed(&self, meta: ObjectMeta) -> Listed {
        let full = meta.location.as_ref();
        let root = self.root.as_ref();
        let path = full.strip_prefix(root).map_or(full, |rest| rest.trim_start_matches('/'));
        Listed {
            path: path.to_owned(),
            bytes: meta.size,
            modified_unix_ms: meta.last_modified.timestamp_millis(),
            e_tag: meta.e_tag,
        }
    }

    /// Copies an object into a file.
    ///
    /// # Errors
    ///
    /// Returns an error if a request fails, or the file cannot be written.
    pub async fn download(&self, path: &str, mut file: &std::fs::File) -> Result<(), StoreError> {
        use std::io::Write as _;
        let got = self.store.get(&self.full_path(path)).await.map_err(Self::error("read", path))?;
        let mut pieces = got.into_stream();
        while let Some(piece) = pieces.try_next().await.map_err(Self::error("read", path))? {
            file.write_all(&piece).map_err(|source| {
                let source = object_store::Error::Generic { store: "file", source: source.into() };
                Self::error("keep a copy of", path)(source)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls_name_stores() {
        assert_eq!(url_of("/a/b c").expect("a path").as_str(), "file:///a/b%20c");
        assert_eq!(url_of("s3://bucket/a").expect("a URL").as_str(), "s3://bucket/a");
        assert!(matches!(url_of("s3://"), Err(StoreError::Url { .. }) | Ok(_)));
        assert!(Store::open("ftp://x/y", &[]).is_err());
    }

    #[tokio::test]
    async fn what_is_created_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path().to_str().expect("text"), &[]).expect("opens");
        assert_eq!(store.create("a/1", "one").await.expect("creates"), Created::New);
        assert_eq!(store.create("a/1", "two").await.expect("finds"), Created::Existing);
        assert_eq!(store.read("a/1").await.expect("reads"), "one");
        store.write("a/2", "three").await.expect("writes");
        let paths = |listed: Vec<Listed>| listed.into_iter().map(|it| it.path).collect::<Vec<_>>();
        assert_eq!(paths(store.list("a", None).await.expect("lists")), ["a/1", "a/2"]);
        assert_eq!(paths(store.list("a", Some("a/1")).await.expect("lists")), ["a/2"]);
        store.delete("a/1").await.expect("deletes");
        store.delete("a/1").await.expect("is no error");
        assert!(store.look("a/1").await.expect("looks").is_none());
        assert!(store.read("a/1").await.expect_err("is gone").is_missing());
    }
}
