//! Names and settings of threads, and what is known of their repositories.

use std::sync::Arc;

use trace_protocol::RpcError;
use trace_protocol::methods::method;
use trace_protocol::notification::ThreadNameUpdatedNotification;
use trace_protocol::thread::{
    ThreadMetadataUpdateParams, ThreadMetadataUpdateResponse, ThreadSetNameParams, ThreadSetNameResponse,
    ThreadSettingsUpdateParams, ThreadSettingsUpdateResponse, ThreadStatus,
};

use super::configuration::ThreadConfiguration;
use crate::blocking::blocking;
use crate::hub::Hub;
use crate::ingress::Responder;
use crate::mapping;
use crate::mapping::thread_id;
use crate::store::{GitChange, Resolution, Store};
use crate::threads::Registry;

/// Serves `thread/name/set`, `thread/metadata/update` and `thread/settings/update`.
pub(crate) struct SettingsHandlers {
    pub(crate) threads: Arc<Registry>,
    pub(crate) store: Store,
    pub(crate) hub: Hub,
    pub(crate) configuration: Arc<ThreadConfiguration>,
}

impl SettingsHandlers {
    pub(crate) async fn set_name(&self, params: ThreadSetNameParams, responder: Responder) {
        let named = async {
            let id = thread_id(&params.thread_id)?;
            let name = params.name.trim().to_owned();
            if name.is_empty() {
                return Err(RpcError::invalid_request("thread name must not be empty"));
            }
            let loaded = self.threads.get(&id);
            let is_ephemeral = loaded.as_ref().is_some_and(|thread| thread.origin().is_ephemeral);
            if !is_ephemeral {
                let (id, name) = (id.clone(), name.clone());
                blocking(&self.store, move |store| store.set_name(&id, &name)).await??;
            }
            if let Some(thread) = loaded {
                thread.state().name = Some(name.clone());
            }
            Ok(name)
        };
        match named.await {
            Ok(name) => {
                responder.respond::<method::ThreadNameSet>(&Ok(ThreadSetNameResponse {}));
                let thread_id = params.thread_id;
                self.hub.broadcast(ThreadNameUpdatedNotification { thread_id, thread_name: Some(name) });
            }
            Err(error) => responder.refuse(&error),
        }
    }

    pub(crate) async fn update_metadata(
        &self,
        params: ThreadMetadataUpdateParams,
    ) -> Result<ThreadMetadataUpdateResponse, RpcError> {
        let id = thread_id(&params.thread_id)?;
        if let Some(git) = params.git_info {
            let change = GitChange {
                sha: git.sha.into_change(),
                branch: git.branch.into_change(),
                origin_url: git.origin_url.into_change(),
            };
            let loaded = self.threads.get(&id);
            let git = match loaded.as_ref().filter(|thread| thread.origin().is_ephemeral) {
                Some(thread) => change.apply(thread.state().git_info.clone()),
                None => {
                    let id = id.clone();
                    blocking(&self.store, move |store| store.change_git(&id, change)).await??
                }
            };
            if let Some(thread) = loaded {
                thread.state().git_info = git;
            }
        }
        let thread = match self.threads.get(&id) {
            Some(thread) => thread.summary(),
            None => {
                let wanted = id.clone();
                match blocking(&self.store, move |store| store.resolve(&wanted)).await? {
                    Resolution::Found(summary) | Resolution::Archived(summary) => {
                        summary.to_thread(ThreadStatus::NotLoaded)
                    }
                    Resolution::Unknown => return Err(RpcError::invalid_request(format!("thread not found: {id}"))),
                }
            }
        };
        Ok(ThreadMetadataUpdateResponse { thread })
    }

    pub(crate) fn update(&self, params: &ThreadSettingsUpdateParams) -> Result<ThreadSettingsUpdateResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let change = mapping::settings::change_of_update(params, &self.configuration.cwd);
        let change = self.configuration.change(change, params.permissions.as_deref(), &thread.agent().settings())?;
        thread.agent().change_settings(&change);
        Ok(ThreadSettingsUpdateResponse {})
    }
}
