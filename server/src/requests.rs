//! Requests of clients, sorted by what serves them: every method of the protocol belongs to one of the lists below.
//!
//! The match that sorts has no rest, and neither have those in `dispatch.rs` and `services/all.rs`. So the compiler reports a new
//! method that is in no list, and then the list's match that does not serve it.

use trace_protocol::methods::method;
use trace_protocol::{ClientMethod, ClientRequest};

/// Makes one enum of each list of methods, and the function that sorts.
macro_rules! lists {
    ($($(#[$doc:meta])* $variant:ident: $list:ident { $($method:ident),* $(,)? })*) => {
        /// A request with decoded params, sorted.
        #[derive(Debug)]
        pub enum Request {
            $($(#[$doc])* $variant($list),)*
        }

        $(
            $(#[$doc])*
            #[derive(Debug)]
            #[expect(missing_docs, reason = "the protocol documents its methods")]
            pub enum $list {
                $($method(Box<<method::$method as ClientMethod>::Params>),)*
            }
        )*

        impl From<ClientRequest> for Request {
            fn from(request: ClientRequest) -> Self {
                match request {
                    $($(ClientRequest::$method(params) => Self::$variant($list::$method(params)),)*)*
                }
            }
        }
    };
}

lists! {
    /// About threads and recorded sessions. A second `initialize` is refused with them.
    Thread: ThreadRequest {
        Initialize, ThreadStart, ThreadResume, ThreadFork, ThreadArchive, ThreadUnarchive, ThreadDelete, ThreadNameSet,
        ThreadUnsubscribe, ThreadMetadataUpdate, ThreadSettingsUpdate, ThreadList, ThreadLoadedList, ThreadSearch,
        ThreadRead, ThreadTurnsList, ThreadItemsList, ThreadItemsRead, ThreadSearchOccurrences, ThreadRevert,
        ThreadRollback, ThreadReadStateUpdate, ThreadInjectItems, TurnStart, TurnSteer, TurnInterrupt,
        TurnSettingsUpdate, ThreadCompactStart, ThreadShellCommand, ReviewStart, ThreadBackgroundTerminalsList,
        ThreadBackgroundTerminalsTerminate, ThreadBackgroundTerminalsClean, ThreadGoalSet, ThreadGoalGet,
        ThreadGoalClear, ThreadQueueAdd, ThreadQueueList, ThreadQueueUpdate, ThreadQueueDelete, ThreadQueueReorder,
        ThreadQueueStart, TraceList, TraceRead, TraceSubscribe, TraceUnsubscribe,
    }

    /// About the machine, catalogues, the configuration and figures.
    Service: ServiceRequest {
        AccountRead, AccountBedrockCheckGovCloudRequirements, ModelList, ModelProviderList,
        ModelProviderCapabilitiesRead, SkillsList, HooksList, PluginInstalled, CollaborationModeList,
        PermissionProfileList, ExperimentalFeatureList, McpServerStatusList, ConfigRead, ConfigValueWrite,
        ConfigBatchWrite, ConfigRequirementsRead, FsReadFile, FsWriteFile, FsCreateDirectory, FsGetMetadata,
        FsReadDirectory, FsRemove, FsCopy, FsWatch, FsUnwatch, CommandExec, CommandExecWrite, CommandExecTerminate,
        CommandExecResize, ProcessSpawn, ProcessWriteStdin, ProcessKill, ProcessResizePty, FuzzyFileSearch,
        FuzzyFileSearchSessionStart, FuzzyFileSearchSessionUpdate, FuzzyFileSearchSessionStop, ServerDiagnostics,
    }
}
