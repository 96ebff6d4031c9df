//! Sorts the requests of clients: each method of the protocol is in one of the lists below.
//!
//! Neither the match that sorts nor those that serve the lists, in `dispatch.rs` and `services/all.rs`, have a catch-all arm. So the
//! compiler reports a new method that is in no list, and then the match that does not serve it.

use trace_protocol::methods::method;
use trace_protocol::{ClientMethod, ClientRequest};

/// Makes an enum of each list of methods, and the conversion that sorts requests into them.
macro_rules! lists {
    ($($(#[$doc:meta])* $variant:ident: $list:ident { $($method:ident),* $(,)? })*) => {
        /// A request of a client, by the list that it is in.
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
    /// Requests about threads and recorded sessions, and `initialize`, which no handler serves.
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

    /// Requests about the machine, catalogues, the configuration and figures.
    Service: ServiceRequest {
        AccountRead, AccountLoginStart, AccountLogout, AccountBedrockCheckGovCloudRequirements, ModelList,
        ModelProviderList,
        ModelProviderCapabilitiesRead, SkillsList, HooksList, PluginInstalled, CollaborationModeList,
        PermissionProfileList, ExperimentalFeatureList, McpServerStatusList, McpServerOauthLogin,
        ConfigMcpServerReload, McpServerToolCall, McpServerResourceRead, McpServerPromptList, McpServerPromptGet,
        ConfigRead, ConfigValueWrite,
        ConfigBatchWrite, ConfigRequirementsRead, FsReadFile, FsWriteFile, FsCreateDirectory, FsGetMetadata,
        FsReadDirectory, FsRemove, FsCopy, FsWatch, FsUnwatch, CommandExec, CommandExecWrite, CommandExecTerminate,
        CommandExecResize, ProcessSpawn, ProcessWriteStdin, ProcessKill, ProcessResizePty, FuzzyFileSearch,
        FuzzyFileSearchSessionStart, FuzzyFileSearchSessionUpdate, FuzzyFileSearchSessionStop, ServerDiagnostics,
    }
}
