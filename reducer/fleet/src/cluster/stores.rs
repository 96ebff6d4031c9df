//! Stores that a part of a cluster opens when a plan names them, with its own credentials: a plan has none.

use std::fmt;
use std::sync::Arc;

use datafusion::common::{Result, plan_datafusion_err};
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use object_store::ObjectStore;
use url::Url;

/// Opens stores by their URL.
pub(super) struct Stores {
    known: DefaultObjectStoreRegistry,
    options: Vec<(String, String)>,
}

impl Stores {
    pub(super) fn new(options: &[(String, String)]) -> Self {
        Self { known: DefaultObjectStoreRegistry::new(), options: options.to_vec() }
    }
}

// Options have credentials.
impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores").field("known", &self.known).finish_non_exhaustive()
    }
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.known.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        if let Ok(store) = self.known.get_store(url) {
            return Ok(store);
        }
        let options = self.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let (store, _) = object_store::parse_url_opts(url, options)
            .map_err(|error| plan_datafusion_err!("{url} cannot be opened: {error}"))?;
        let store: Arc<dyn ObjectStore> = Arc::from(store);
        self.known.register_store(url, Arc::clone(&store));
        Ok(store)
    }
}
