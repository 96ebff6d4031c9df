//! All methods, notifications and requests of the protocol, each declared once.
//!
//! A line of `client_methods!` consists of the name of the variant, name on the wire, type of the params, type of the
//! result, tier, stability, scope, and the fields of the params that only experimental connections may set, in Rust and
//! on the wire. Dispatch, checks, schemas and the tables in `docs/protocol/` are generated from these lines.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::account::{
    BedrockCheckGovCloudRequirementsParams, BedrockCheckGovCloudRequirementsResponse, GetAccountParams,
    GetAccountResponse, LoginAccountParams, LoginAccountResponse, LogoutAccountResponse,
};
use crate::approval::{
    ApplyPatchApprovalParams, ApplyPatchApprovalResponse, AttestationGenerateParams, AttestationGenerateResponse,
    ChatgptAuthTokensRefreshParams, ChatgptAuthTokensRefreshResponse, CommandExecutionRequestApprovalParams,
    CommandExecutionRequestApprovalResponse, CurrentTimeReadParams, CurrentTimeReadResponse, DynamicToolCallParams,
    DynamicToolCallResponse, ExecCommandApprovalParams, ExecCommandApprovalResponse, FileChangeRequestApprovalParams,
    FileChangeRequestApprovalResponse, McpServerElicitationRequestParams, McpServerElicitationRequestResponse,
    PermissionsRequestApprovalParams, PermissionsRequestApprovalResponse, ToolRequestUserInputParams,
    ToolRequestUserInputResponse,
};
use crate::catalog::{
    CollaborationModeListParams, CollaborationModeListResponse, ExperimentalFeatureListParams,
    ExperimentalFeatureListResponse, HooksListParams, HooksListResponse, ListMcpServerStatusParams,
    ListMcpServerStatusResponse, PermissionProfileListParams, PermissionProfileListResponse, PluginInstalledParams,
    PluginInstalledResponse, SkillsListParams, SkillsListResponse,
};
use crate::command::{
    CommandExecParams, CommandExecResizeParams, CommandExecResizeResponse, CommandExecResponse,
    CommandExecTerminateParams, CommandExecTerminateResponse, CommandExecWriteParams, CommandExecWriteResponse,
};
use crate::config::{
    ConfigBatchWriteParams, ConfigReadParams, ConfigReadResponse, ConfigRequirementsReadResponse,
    ConfigValueWriteParams, ConfigWriteResponse,
};
use crate::connection::{InitializeParams, InitializeResponse, ServerDiagnosticsParams, ServerDiagnosticsResponse};
use crate::declare::{
    Access, ClientMethod, ConnectionScope, Experimental, IsSet, MethodInfo, NoParams, NotificationInfo, Scope,
    ScopeKind, ServerMethod, ServerRequestInfo, Stability, Tier, UnavailableMethod, client_methods, decode_params,
    scope_of, server_notifications, server_requests, without_fields,
};
use crate::envelope::{self, EncodeError, RequestId};
use crate::error::RpcError;
use crate::fs::{
    FsCopyParams, FsCopyResponse, FsCreateDirectoryParams, FsCreateDirectoryResponse, FsGetMetadataParams,
    FsGetMetadataResponse, FsReadDirectoryParams, FsReadDirectoryResponse, FsReadFileParams, FsReadFileResponse,
    FsRemoveParams, FsRemoveResponse, FsUnwatchParams, FsUnwatchResponse, FsWatchParams, FsWatchResponse,
    FsWriteFileParams, FsWriteFileResponse,
};
use crate::goal::{
    ThreadGoalClearParams, ThreadGoalClearResponse, ThreadGoalGetParams, ThreadGoalGetResponse, ThreadGoalSetParams,
    ThreadGoalSetResponse,
};
use crate::history::{
    ThreadItemsListParams, ThreadItemsListResponse, ThreadItemsReadParams, ThreadItemsReadResponse,
    ThreadReadStateUpdateParams, ThreadReadStateUpdateResponse, ThreadSearchOccurrencesParams,
    ThreadSearchOccurrencesResponse, ThreadSearchParams, ThreadSearchResponse, ThreadTurnsListParams,
    ThreadTurnsListResponse,
};
use crate::mcp::{
    McpResourceReadParams, McpResourceReadResponse, McpServerOauthLoginCompletedNotification,
    McpServerOauthLoginParams, McpServerOauthLoginResponse, McpServerPromptGetParams, McpServerPromptGetResponse,
    McpServerPromptListParams, McpServerPromptListResponse, McpServerRefreshResponse, McpServerToolCallParams,
    McpServerToolCallResponse,
};
use crate::model::{
    ModelListParams, ModelListResponse, ModelProviderCapabilitiesReadParams, ModelProviderCapabilitiesReadResponse,
    ModelProviderListParams, ModelProviderListResponse,
};
use crate::notification::{
    AccountLoginCompletedNotification, AccountRateLimitsUpdatedNotification, AccountUpdatedNotification,
    AgentMessageDeltaNotification, CommandExecOutputDeltaNotification, CommandExecutionOutputDeltaNotification,
    ConfigWarningNotification, ContextCompactedNotification, DeprecationNoticeNotification, ErrorNotification,
    FileChangeOutputDeltaNotification, FileChangePatchUpdatedNotification, FsChangedNotification,
    FuzzyFileSearchSessionCompletedNotification, FuzzyFileSearchSessionUpdatedNotification, HookCompletedNotification,
    HookStartedNotification, ItemCompletedNotification, ItemStartedNotification, McpServerStatusUpdatedNotification,
    McpToolCallProgressNotification, ModelReroutedNotification, PlanDeltaNotification, ProcessExitedNotification,
    ProcessOutputDeltaNotification, ReasoningSummaryPartAddedNotification, ReasoningSummaryTextDeltaNotification,
    ReasoningTextDeltaNotification, RemoteControlStatusChangedNotification, ServerRequestResolvedNotification,
    SkillsChangedNotification, TerminalInteractionNotification, ThreadArchivedNotification, ThreadClosedNotification,
    ThreadDeletedNotification, ThreadGoalClearedNotification, ThreadGoalUpdatedNotification,
    ThreadNameUpdatedNotification, ThreadQueueChangedNotification, ThreadReadStateChangedNotification,
    ThreadRevertedNotification, ThreadSettingsUpdatedNotification, ThreadStartedNotification,
    ThreadStatusChangedNotification, ThreadTokenUsageUpdatedNotification, ThreadUnarchivedNotification,
    TurnCompletedNotification, TurnDiffUpdatedNotification, TurnPlanUpdatedNotification, TurnStartedNotification,
    WarningNotification,
};
use crate::process::{
    ProcessKillParams, ProcessKillResponse, ProcessResizePtyParams, ProcessResizePtyResponse, ProcessSpawnParams,
    ProcessSpawnResponse, ProcessWriteStdinParams, ProcessWriteStdinResponse,
};
use crate::queue::{
    ThreadQueueAddParams, ThreadQueueAddResponse, ThreadQueueDeleteParams, ThreadQueueDeleteResponse,
    ThreadQueueListParams, ThreadQueueListResponse, ThreadQueueReorderParams, ThreadQueueReorderResponse,
    ThreadQueueStartParams, ThreadQueueStartResponse, ThreadQueueUpdateParams, ThreadQueueUpdateResponse,
};
use crate::search::{
    FuzzyFileSearchParams, FuzzyFileSearchResponse, FuzzyFileSearchSessionStartParams,
    FuzzyFileSearchSessionStartResponse, FuzzyFileSearchSessionStopParams, FuzzyFileSearchSessionStopResponse,
    FuzzyFileSearchSessionUpdateParams, FuzzyFileSearchSessionUpdateResponse,
};
use crate::settings::AskForApproval;
#[cfg(feature = "schema")]
use crate::shape::Shape;
use crate::thread::{
    ThreadArchiveParams, ThreadArchiveResponse, ThreadBackgroundTerminalsCleanParams,
    ThreadBackgroundTerminalsCleanResponse, ThreadBackgroundTerminalsListParams, ThreadBackgroundTerminalsListResponse,
    ThreadBackgroundTerminalsTerminateParams, ThreadBackgroundTerminalsTerminateResponse, ThreadCompactStartParams,
    ThreadCompactStartResponse, ThreadDeleteParams, ThreadDeleteResponse, ThreadForkParams, ThreadForkResponse,
    ThreadInjectItemsParams, ThreadInjectItemsResponse, ThreadListParams, ThreadListResponse, ThreadLoadedListParams,
    ThreadLoadedListResponse, ThreadMetadataUpdateParams, ThreadMetadataUpdateResponse, ThreadReadParams,
    ThreadReadResponse, ThreadResumeParams, ThreadResumeResponse, ThreadRevertParams, ThreadRevertResponse,
    ThreadRollbackParams, ThreadRollbackResponse, ThreadSetNameParams, ThreadSetNameResponse,
    ThreadSettingsUpdateParams, ThreadSettingsUpdateResponse, ThreadShellCommandParams, ThreadShellCommandResponse,
    ThreadStartParams, ThreadStartResponse, ThreadUnarchiveParams, ThreadUnarchiveResponse, ThreadUnsubscribeParams,
    ThreadUnsubscribeResponse,
};
use crate::trace::{
    TraceChangedNotification, TraceListParams, TraceListResponse, TraceReadParams, TraceReadResponse,
    TraceSubscribeParams, TraceSubscribeResponse, TraceUnsubscribeParams, TraceUnsubscribeResponse,
};
use crate::turn::{
    ReviewStartParams, ReviewStartResponse, TurnInterruptParams, TurnInterruptResponse, TurnSettingsUpdateParams,
    TurnSettingsUpdateResponse, TurnStartParams, TurnStartResponse, TurnSteerParams, TurnSteerResponse,
};

client_methods! {
    // Connections.
    Initialize "initialize": InitializeParams => InitializeResponse, One, Stable, None;
    ServerDiagnostics "server/diagnostics":
        ServerDiagnosticsParams => ServerDiagnosticsResponse, Two, Experimental, None;

    // Threads.
    ThreadStart "thread/start": ThreadStartParams => ThreadStartResponse, One, Stable, None [
        allow_provider_model_fallback "allowProviderModelFallback", daybreak_enabled "daybreakEnabled",
        dynamic_tools "dynamicTools", environments "environments", experimental_raw_events "experimentalRawEvents",
        history_mode "historyMode", mock_experimental_field "mockExperimentalField",
        multi_agent_mode "multiAgentMode", permissions "permissions", project_id "projectId",
        runtime_workspace_roots "runtimeWorkspaceRoots", selected_capability_roots "selectedCapabilityRoots",
    ];
    ThreadResume "thread/resume": ThreadResumeParams => ThreadResumeResponse, One, Stable, ThreadOrPath [
        history "history", initial_turns_page "initialTurnsPage", path "path", permissions "permissions",
        runtime_workspace_roots "runtimeWorkspaceRoots",
    ];
    ThreadFork "thread/fork": ThreadForkParams => ThreadForkResponse, Two, Stable, ThreadOrPath [
        attach_to_source "attachToSource", before_turn_id "beforeTurnId",
        defer_goal_continuation "deferGoalContinuation",
        experimental_disable_prediction_mcp "experimentalDisablePredictionMcp",
        experimental_prediction_mode "experimentalPredictionMode", path "path", permissions "permissions",
        runtime_workspace_roots "runtimeWorkspaceRoots",
    ];
    ThreadArchive "thread/archive": ThreadArchiveParams => ThreadArchiveResponse, Two, Stable, Thread;
    ThreadDelete "thread/delete": ThreadDeleteParams => ThreadDeleteResponse, Two, Stable, Thread;
    ThreadUnsubscribe "thread/unsubscribe": ThreadUnsubscribeParams => ThreadUnsubscribeResponse, One, Stable, Thread;
    ThreadNameSet "thread/name/set": ThreadSetNameParams => ThreadSetNameResponse, Two, Stable, Thread;
    ThreadMetadataUpdate "thread/metadata/update":
        ThreadMetadataUpdateParams => ThreadMetadataUpdateResponse, Two, Stable, Thread [
        daybreak_enabled "daybreakEnabled", project_id "projectId",
    ];
    ThreadSettingsUpdate "thread/settings/update":
        ThreadSettingsUpdateParams => ThreadSettingsUpdateResponse, Two, Experimental, Thread;
    ThreadUnarchive "thread/unarchive": ThreadUnarchiveParams => ThreadUnarchiveResponse, Two, Stable, Thread;
    ThreadCompactStart "thread/compact/start":
        ThreadCompactStartParams => ThreadCompactStartResponse, Two, Stable, Thread;
    ThreadShellCommand "thread/shellCommand":
        ThreadShellCommandParams => ThreadShellCommandResponse, Two, Stable, Thread;
    ThreadBackgroundTerminalsClean "thread/backgroundTerminals/clean":
        ThreadBackgroundTerminalsCleanParams => ThreadBackgroundTerminalsCleanResponse, Two, Experimental, Thread;
    ThreadBackgroundTerminalsList "thread/backgroundTerminals/list":
        ThreadBackgroundTerminalsListParams => ThreadBackgroundTerminalsListResponse, Two, Experimental, Thread;
    ThreadBackgroundTerminalsTerminate "thread/backgroundTerminals/terminate":
        ThreadBackgroundTerminalsTerminateParams => ThreadBackgroundTerminalsTerminateResponse, Two, Experimental, Thread;
    ThreadRevert "thread/revert": ThreadRevertParams => ThreadRevertResponse, Two, Stable, Thread;
    ThreadList "thread/list": ThreadListParams => ThreadListResponse, One, Stable, None [
        ancestor_thread_id "ancestorThreadId", attached_to_thread_id "attachedToThreadId",
        include_attached_threads "includeAttachedThreads", parent_thread_id "parentThreadId", project_id "projectId",
    ];
    ThreadLoadedList "thread/loaded/list": ThreadLoadedListParams => ThreadLoadedListResponse, Two, Stable, None;
    ThreadRead "thread/read": ThreadReadParams => ThreadReadResponse, One, Stable, Thread;
    ThreadReadStateUpdate "thread/readState/update":
        ThreadReadStateUpdateParams => ThreadReadStateUpdateResponse, Two, Experimental, Thread;
    ThreadInjectItems "thread/inject_items":
        ThreadInjectItemsParams => ThreadInjectItemsResponse, Two, Stable, Thread;

    // The content of threads.
    ThreadSearch "thread/search": ThreadSearchParams => ThreadSearchResponse, Two, Experimental, None;
    ThreadSearchOccurrences "thread/searchOccurrences":
        ThreadSearchOccurrencesParams => ThreadSearchOccurrencesResponse, Two, Experimental, Thread;
    ThreadTurnsList "thread/turns/list": ThreadTurnsListParams => ThreadTurnsListResponse, Two, Stable, None;
    ThreadItemsList "thread/items/list": ThreadItemsListParams => ThreadItemsListResponse, Two, Stable, None;
    ThreadItemsRead "thread/items/read": ThreadItemsReadParams => ThreadItemsReadResponse, Two, Experimental, None;

    // Goals and queued prompts.
    ThreadGoalSet "thread/goal/set": ThreadGoalSetParams => ThreadGoalSetResponse, Two, Stable, Thread;
    ThreadGoalGet "thread/goal/get": ThreadGoalGetParams => ThreadGoalGetResponse, Two, Stable, Thread;
    ThreadGoalClear "thread/goal/clear": ThreadGoalClearParams => ThreadGoalClearResponse, Two, Stable, Thread;
    ThreadQueueAdd "thread/queue/add": ThreadQueueAddParams => ThreadQueueAddResponse, Two, Experimental, Thread;
    ThreadQueueList "thread/queue/list": ThreadQueueListParams => ThreadQueueListResponse, Two, Experimental, Thread;
    ThreadQueueUpdate "thread/queue/update":
        ThreadQueueUpdateParams => ThreadQueueUpdateResponse, Two, Experimental, Thread;
    ThreadQueueDelete "thread/queue/delete":
        ThreadQueueDeleteParams => ThreadQueueDeleteResponse, Two, Experimental, Thread;
    ThreadQueueReorder "thread/queue/reorder":
        ThreadQueueReorderParams => ThreadQueueReorderResponse, Two, Experimental, Thread;
    ThreadQueueStart "thread/queue/start":
        ThreadQueueStartParams => ThreadQueueStartResponse, Two, Experimental, Thread;

    // Turns.
    TurnStart "turn/start": TurnStartParams => TurnStartResponse, One, Stable, Thread [
        additional_context "additionalContext", collaboration_mode "collaborationMode",
        cyber_access_program "cyberAccessProgram", environments "environments", multi_agent_mode "multiAgentMode",
        permissions "permissions", responses_api_client_metadata "responsesapiClientMetadata",
        responses_api_client_metadata_patch "responsesapiClientMetadataPatch",
        runtime_workspace_roots "runtimeWorkspaceRoots",
    ];
    TurnSettingsUpdate "turn/settings/update":
        TurnSettingsUpdateParams => TurnSettingsUpdateResponse, Two, Experimental, Thread;
    TurnSteer "turn/steer": TurnSteerParams => TurnSteerResponse, One, Stable, Thread [
        additional_context "additionalContext", responses_api_client_metadata "responsesapiClientMetadata",
        responses_api_client_metadata_patch "responsesapiClientMetadataPatch",
    ];
    TurnInterrupt "turn/interrupt": TurnInterruptParams => TurnInterruptResponse, One, Stable, Thread;
    ReviewStart "review/start": ReviewStartParams => ReviewStartResponse, Two, Stable, Thread;

    // Settings and catalogues.
    SkillsList "skills/list": SkillsListParams => SkillsListResponse, Two, Stable, ConfigShared;
    HooksList "hooks/list": HooksListParams => HooksListResponse, Two, Stable, Config;
    PluginInstalled "plugin/installed": PluginInstalledParams => PluginInstalledResponse, Two, Stable, None;
    ModelList "model/list": ModelListParams => ModelListResponse, One, Stable, None;
    ModelProviderList "modelProvider/list": ModelProviderListParams => ModelProviderListResponse, Two, Stable, None;
    ModelProviderCapabilitiesRead "modelProvider/capabilities/read":
        ModelProviderCapabilitiesReadParams => ModelProviderCapabilitiesReadResponse, Two, Stable, None;
    ExperimentalFeatureList "experimentalFeature/list":
        ExperimentalFeatureListParams => ExperimentalFeatureListResponse, Two, Stable, Config;
    PermissionProfileList "permissionProfile/list":
        PermissionProfileListParams => PermissionProfileListResponse, Two, Stable, ConfigShared;
    CollaborationModeList "collaborationMode/list":
        CollaborationModeListParams => CollaborationModeListResponse, Two, Experimental, None;
    McpServerStatusList "mcpServerStatus/list":
        ListMcpServerStatusParams => ListMcpServerStatusResponse, Two, Stable, Mcp;
    McpServerOauthLogin "mcpServer/oauth/login":
        McpServerOauthLoginParams => McpServerOauthLoginResponse, Two, Stable, None;
    ConfigMcpServerReload "config/mcpServer/reload": NoParams => McpServerRefreshResponse, Two, Stable, Mcp;
    McpServerToolCall "mcpServer/tool/call":
        McpServerToolCallParams => McpServerToolCallResponse, Two, Stable, None;
    McpServerResourceRead "mcpServer/resource/read":
        McpResourceReadParams => McpResourceReadResponse, Two, Stable, None;
    McpServerPromptList "mcpServer/prompt/list":
        McpServerPromptListParams => McpServerPromptListResponse, Own, Experimental, None;
    McpServerPromptGet "mcpServer/prompt/get":
        McpServerPromptGetParams => McpServerPromptGetResponse, Own, Experimental, None;
    AccountBedrockCheckGovCloudRequirements "account/bedrock/checkGovCloudRequirements":
        BedrockCheckGovCloudRequirementsParams => BedrockCheckGovCloudRequirementsResponse, Two, Experimental, None;
    ConfigRead "config/read": ConfigReadParams => ConfigReadResponse, One, Stable, ConfigShared;
    ConfigValueWrite "config/value/write": ConfigValueWriteParams => ConfigWriteResponse, Two, Stable, Config;
    ConfigBatchWrite "config/batchWrite": ConfigBatchWriteParams => ConfigWriteResponse, Two, Stable, Config;
    ConfigRequirementsRead "configRequirements/read": NoParams => ConfigRequirementsReadResponse, One, Stable, Config;
    AccountRead "account/read": GetAccountParams => GetAccountResponse, One, Stable, Account;
    AccountLoginStart "account/login/start": LoginAccountParams => LoginAccountResponse, Two, Stable, Account;
    AccountLogout "account/logout": NoParams => LogoutAccountResponse, Two, Stable, Account;

    // The server's machine.
    FsReadFile "fs/readFile": FsReadFileParams => FsReadFileResponse, Two, Stable, None;
    FsWriteFile "fs/writeFile": FsWriteFileParams => FsWriteFileResponse, Two, Stable, None;
    FsCreateDirectory "fs/createDirectory": FsCreateDirectoryParams => FsCreateDirectoryResponse, Two, Stable, None;
    FsGetMetadata "fs/getMetadata": FsGetMetadataParams => FsGetMetadataResponse, Two, Stable, None;
    FsReadDirectory "fs/readDirectory": FsReadDirectoryParams => FsReadDirectoryResponse, Two, Stable, None;
    FsRemove "fs/remove": FsRemoveParams => FsRemoveResponse, Two, Stable, None;
    FsCopy "fs/copy": FsCopyParams => FsCopyResponse, Two, Stable, None;
    FsWatch "fs/watch": FsWatchParams => FsWatchResponse, Two, Stable, Watch;
    FsUnwatch "fs/unwatch": FsUnwatchParams => FsUnwatchResponse, Two, Stable, Watch;
    CommandExec "command/exec": CommandExecParams => CommandExecResponse, Two, Stable, CommandIfNamed [
        permission_profile "permissionProfile",
    ];
    CommandExecWrite "command/exec/write": CommandExecWriteParams => CommandExecWriteResponse, Two, Stable, Command;
    CommandExecTerminate "command/exec/terminate":
        CommandExecTerminateParams => CommandExecTerminateResponse, Two, Stable, Command;
    CommandExecResize "command/exec/resize":
        CommandExecResizeParams => CommandExecResizeResponse, Two, Stable, Command;
    ProcessSpawn "process/spawn": ProcessSpawnParams => ProcessSpawnResponse, Two, Experimental, Process;
    ProcessWriteStdin "process/writeStdin":
        ProcessWriteStdinParams => ProcessWriteStdinResponse, Two, Experimental, Process;
    ProcessKill "process/kill": ProcessKillParams => ProcessKillResponse, Two, Experimental, Process;
    ProcessResizePty "process/resizePty":
        ProcessResizePtyParams => ProcessResizePtyResponse, Two, Experimental, Process;
    FuzzyFileSearch "fuzzyFileSearch": FuzzyFileSearchParams => FuzzyFileSearchResponse, Two, Stable, None;
    FuzzyFileSearchSessionStart "fuzzyFileSearch/sessionStart":
        FuzzyFileSearchSessionStartParams => FuzzyFileSearchSessionStartResponse, Two, Experimental, Search;
    FuzzyFileSearchSessionUpdate "fuzzyFileSearch/sessionUpdate":
        FuzzyFileSearchSessionUpdateParams => FuzzyFileSearchSessionUpdateResponse, Two, Experimental, Search;
    FuzzyFileSearchSessionStop "fuzzyFileSearch/sessionStop":
        FuzzyFileSearchSessionStopParams => FuzzyFileSearchSessionStopResponse, Two, Experimental, Search;

    // Methods that older clients call.
    ThreadRollback "thread/rollback": ThreadRollbackParams => ThreadRollbackResponse, Legacy, Stable, Thread;

    // Recorded sessions, an addition of this server.
    TraceList "trace/list": TraceListParams => TraceListResponse, Own, Experimental, None;
    TraceRead "trace/read": TraceReadParams => TraceReadResponse, Own, Experimental, None;
    TraceSubscribe "trace/subscribe": TraceSubscribeParams => TraceSubscribeResponse, Own, Experimental, None;
    TraceUnsubscribe "trace/unsubscribe":
        TraceUnsubscribeParams => TraceUnsubscribeResponse, Own, Experimental, TraceSubscription;
}

/// Makes the list of methods that are known but not offered.
macro_rules! unavailable_methods {
    ($($stability:ident $name:literal;)*) => {
        /// Methods of the protocol for features that this server does not have: accounts, plugins, remote control.
        ///
        /// They are listed so that a client gets the error "not available here" instead of "unknown method".
        pub const UNAVAILABLE_METHODS: &[UnavailableMethod] = &[
            $(UnavailableMethod { name: $name, stability: Stability::$stability },)*
        ];
    };
}

unavailable_methods! {
    Experimental "userVerification/status";
    Experimental "userVerification/enroll";
    Experimental "userVerification/delete";
    Experimental "userVerification/verify";
    Experimental "userVerification/cancel";
    Experimental "thread/sample";
    Experimental "thread/sample/cancel";
    Experimental "thread/increment_elicitation";
    Experimental "thread/decrement_elicitation";
    Experimental "thread/prediction/request";
    Stable "thread/attachment/add";
    Stable "thread/attachment/list";
    Stable "thread/attachmentOwner/list";
    Stable "thread/attachment/remove";
    Stable "thread/section/move";
    Experimental "thread/memoryMode/set";
    Experimental "thread/memory/read";
    Experimental "memory/status";
    Experimental "memory/reset";
    Experimental "rollout/compress";
    Stable "thread/approveGuardianDeniedAction";
    Experimental "project/list";
    Experimental "project/read";
    Experimental "project/create";
    Experimental "project/import";
    Experimental "project/update";
    Experimental "project/move";
    Experimental "project/delete";
    Stable "threadSection/list";
    Stable "threadSection/create";
    Stable "threadSection/update";
    Stable "threadSection/delete";
    Experimental "thread/guardianReview";
    Experimental "thread/prepareApprovedPlan";
    Stable "skills/extraRoots/set";
    Stable "marketplace/add";
    Stable "marketplace/remove";
    Stable "marketplace/upgrade";
    Stable "plugin/list";
    Experimental "plugin/search";
    Stable "plugin/reconcile";
    Stable "plugin/read";
    Stable "plugin/skill/read";
    Stable "plugin/share/save";
    Stable "plugin/share/updateTargets";
    Stable "plugin/share/list";
    Stable "plugin/share/checkout";
    Stable "plugin/share/delete";
    Stable "app/read";
    Stable "app/list";
    Stable "app/installed";
    Stable "skills/config/write";
    Stable "plugin/install";
    Stable "plugin/uninstall";
    Experimental "thread/realtime/start";
    Experimental "thread/realtime/appendAudio";
    Experimental "thread/realtime/appendText";
    Experimental "thread/realtime/appendSpeech";
    Experimental "thread/realtime/stop";
    Experimental "thread/timeline/list";
    Experimental "thread/realtime/listVoices";
    Stable "account/gatewayOAuth/read";
    Stable "account/gatewayOAuth/login";
    Stable "account/gatewayOAuth/cancel";
    Stable "modelProvider/config/write";
    Stable "experimentalFeature/enablement/set";
    Experimental "remoteControl/enable";
    Experimental "remoteControl/disable";
    Experimental "remoteControl/status/read";
    Experimental "remoteControl/pairing/start";
    Experimental "remoteControl/pairing/status";
    Experimental "remoteControl/client/list";
    Experimental "remoteControl/client/revoke";
    Experimental "mock/experimentalMethod";
    Experimental "environment/add";
    Experimental "environment/info";
    Experimental "environment/status";
    Experimental "mcpServer/event/stream/start";
    Experimental "mcpServer/event/stream/stop";
    Stable "windowsSandbox/setupStart";
    Stable "windowsSandbox/readiness";
    Experimental "account/bedrock/discover";
    Experimental "account/bedrock/setup";
    Experimental "account/gcp/setup";
    Stable "account/login/cancel";
    Experimental "accountSession/list";
    Experimental "accountSession/switch";
    Stable "account/securitySetup/read";
    Stable "account/rateLimits/read";
    Stable "account/rateLimitResetCredit/consume";
    Stable "account/usage/read";
    Stable "account/workspaceMessages/read";
    Stable "account/sendAddCreditsNudgeEmail";
    Stable "feedback/upload";
    Stable "feedback/save";
    Stable "externalAgentConfig/detect";
    Stable "externalAgentConfig/import";
    Stable "externalAgentConfig/import/recordHistory";
    Stable "externalAgentConfig/import/readHistories";
}

/// Returns a request unless it contains a value that requires the experimental capability in any method.
fn allowed(request: ClientRequest, experimental: Experimental) -> Result<ClientRequest, RpcError> {
    let approval_policy = match &request {
        ClientRequest::ThreadStart(params) => params.approval_policy.as_ref(),
        ClientRequest::ThreadResume(params) => params.approval_policy.as_ref(),
        ClientRequest::ThreadFork(params) => params.approval_policy.as_ref(),
        ClientRequest::TurnStart(params) => params.approval_policy.as_ref(),
        _ => None,
    };
    match (approval_policy, experimental) {
        (Some(AskForApproval::Granular { .. }), Experimental::Disabled) => {
            Err(RpcError::experimental("askForApproval.granular"))
        }
        _ => Ok(request),
    }
}

/// Returns the error for a method that is not offered.
fn unavailable(method: &str, experimental: Experimental) -> RpcError {
    match UNAVAILABLE_METHODS.iter().find(|known| known.name == method) {
        Some(known) if experimental.allows(known.stability) => RpcError::method_not_available(known.name),
        Some(known) => RpcError::experimental(known.name),
        None => RpcError::unknown_method(method),
    }
}

server_notifications! {
    Error "error": ErrorNotification, Stable, |params| Some(&params.thread_id);
    ThreadStarted "thread/started": ThreadStartedNotification, Stable, |params| Some(&params.thread.id);
    ThreadStatusChanged "thread/status/changed":
        ThreadStatusChangedNotification, Stable, |params| Some(&params.thread_id);
    ThreadReadStateChanged "thread/readState/changed":
        ThreadReadStateChangedNotification, Experimental, |params| Some(&params.thread_id);
    ThreadArchived "thread/archived": ThreadArchivedNotification, Stable, |params| Some(&params.thread_id);
    ThreadDeleted "thread/deleted": ThreadDeletedNotification, Stable, |params| Some(&params.thread_id);
    ThreadUnarchived "thread/unarchived": ThreadUnarchivedNotification, Stable, |params| Some(&params.thread_id);
    ThreadClosed "thread/closed": ThreadClosedNotification, Stable, |params| Some(&params.thread_id);
    ThreadReverted "thread/reverted": ThreadRevertedNotification, Stable, |params| Some(&params.thread_id);
    SkillsChanged "skills/changed": SkillsChangedNotification, Stable, |_| None;
    ThreadNameUpdated "thread/name/updated": ThreadNameUpdatedNotification, Stable, |params| Some(&params.thread_id);
    ThreadGoalUpdated "thread/goal/updated": ThreadGoalUpdatedNotification, Stable, |params| Some(&params.thread_id);
    ThreadGoalCleared "thread/goal/cleared": ThreadGoalClearedNotification, Stable, |params| Some(&params.thread_id);
    ThreadQueueChanged "thread/queue/changed":
        ThreadQueueChangedNotification, Stable, |params| Some(&params.thread_id);
    ThreadSettingsUpdated "thread/settings/updated":
        ThreadSettingsUpdatedNotification, Experimental, |params| Some(&params.thread_id);
    ThreadTokenUsageUpdated "thread/tokenUsage/updated":
        ThreadTokenUsageUpdatedNotification, Stable, |params| Some(&params.thread_id);
    TurnStarted "turn/started": TurnStartedNotification, Stable, |params| Some(&params.thread_id);
    HookStarted "hook/started": HookStartedNotification, Stable, |params| Some(&params.thread_id);
    TurnCompleted "turn/completed": TurnCompletedNotification, Stable, |params| Some(&params.thread_id);
    HookCompleted "hook/completed": HookCompletedNotification, Stable, |params| Some(&params.thread_id);
    TurnDiffUpdated "turn/diff/updated": TurnDiffUpdatedNotification, Stable, |params| Some(&params.thread_id);
    TurnPlanUpdated "turn/plan/updated": TurnPlanUpdatedNotification, Stable, |params| Some(&params.thread_id);
    ItemStarted "item/started": ItemStartedNotification, Stable, |params| Some(&params.thread_id);
    ItemCompleted "item/completed": ItemCompletedNotification, Stable, |params| Some(&params.thread_id);
    ItemAgentMessageDelta "item/agentMessage/delta":
        AgentMessageDeltaNotification, Stable, |params| Some(&params.thread_id);
    ItemPlanDelta "item/plan/delta": PlanDeltaNotification, Stable, |params| Some(&params.thread_id);
    CommandExecOutputDelta "command/exec/outputDelta": CommandExecOutputDeltaNotification, Stable, |_| None;
    ProcessOutputDelta "process/outputDelta": ProcessOutputDeltaNotification, Stable, |_| None;
    ProcessExited "process/exited": ProcessExitedNotification, Stable, |_| None;
    ItemCommandExecutionOutputDelta "item/commandExecution/outputDelta":
        CommandExecutionOutputDeltaNotification, Stable, |params| Some(&params.thread_id);
    ItemCommandExecutionTerminalInteraction "item/commandExecution/terminalInteraction":
        TerminalInteractionNotification, Stable, |params| Some(&params.thread_id);
    ItemFileChangeOutputDelta "item/fileChange/outputDelta":
        FileChangeOutputDeltaNotification, Stable, |params| Some(&params.thread_id);
    ItemFileChangePatchUpdated "item/fileChange/patchUpdated":
        FileChangePatchUpdatedNotification, Stable, |params| Some(&params.thread_id);
    ServerRequestResolved "serverRequest/resolved":
        ServerRequestResolvedNotification, Stable, |params| Some(&params.thread_id);
    ItemMcpToolCallProgress "item/mcpToolCall/progress":
        McpToolCallProgressNotification, Stable, |params| Some(&params.thread_id);
    McpServerStartupStatusUpdated "mcpServer/startupStatus/updated":
        McpServerStatusUpdatedNotification, Stable, |params| params.thread_id.as_deref();
    McpServerOauthLoginCompleted "mcpServer/oauthLogin/completed":
        McpServerOauthLoginCompletedNotification, Stable, |params| params.thread_id.as_deref();
    AccountLoginCompleted "account/login/completed": AccountLoginCompletedNotification, Stable, |_| None;
    AccountUpdated "account/updated": AccountUpdatedNotification, Stable, |_| None;
    AccountRateLimitsUpdated "account/rateLimits/updated": AccountRateLimitsUpdatedNotification, Stable, |_| None;
    RemoteControlStatusChanged "remoteControl/status/changed":
        RemoteControlStatusChangedNotification, Stable, |_| None;
    FsChanged "fs/changed": FsChangedNotification, Stable, |_| None;
    ItemReasoningSummaryTextDelta "item/reasoning/summaryTextDelta":
        ReasoningSummaryTextDeltaNotification, Stable, |params| Some(&params.thread_id);
    ItemReasoningSummaryPartAdded "item/reasoning/summaryPartAdded":
        ReasoningSummaryPartAddedNotification, Stable, |params| Some(&params.thread_id);
    ItemReasoningTextDelta "item/reasoning/textDelta":
        ReasoningTextDeltaNotification, Stable, |params| Some(&params.thread_id);
    ThreadCompacted "thread/compacted": ContextCompactedNotification, Stable, |params| Some(&params.thread_id);
    ModelRerouted "model/rerouted": ModelReroutedNotification, Stable, |params| Some(&params.thread_id);
    Warning "warning": WarningNotification, Stable, |params| params.thread_id.as_deref();
    DeprecationNotice "deprecationNotice": DeprecationNoticeNotification, Stable, |_| None;
    ConfigWarning "configWarning": ConfigWarningNotification, Stable, |_| None;
    FuzzyFileSearchSessionUpdated "fuzzyFileSearch/sessionUpdated":
        FuzzyFileSearchSessionUpdatedNotification, Stable, |_| None;
    FuzzyFileSearchSessionCompleted "fuzzyFileSearch/sessionCompleted":
        FuzzyFileSearchSessionCompletedNotification, Stable, |_| None;
    TraceChanged "trace/changed": TraceChangedNotification, Experimental, |_| None;
}

/// Notifications of the protocol that this server never sends.
pub const UNSENT_NOTIFICATIONS: &[&str] = &[
    "thread/section/changed",
    "thread/attachment/updated",
    "thread/prediction/updated",
    "project/changed",
    "thread/project/updated",
    "thread/environment/connected",
    "thread/environment/disconnected",
    "item/autoApprovalReview/started",
    "item/autoApprovalReview/completed",
    "autoApprovalReview/strictReviewRequired",
    "mcpServer/event/stream/notification",
    "account/gatewayOAuth/changed",
    "app/list/updated",
    "externalAgentConfig/import/progress",
    "externalAgentConfig/import/completed",
    "model/verification",
    "modelProvider/authRecoveryStarted",
    "modelProvider/authRecoveryCompleted",
    "turn/moderationMetadata",
    "model/safetyBuffering/updated",
    "guardianWarning",
    "thread/realtime/started",
    "thread/realtime/itemAdded",
    "thread/realtime/item/started",
    "thread/realtime/item/transcript/delta",
    "thread/realtime/item/completed",
    "thread/realtime/transcript/delta",
    "thread/realtime/transcript/done",
    "thread/realtime/outputAudio/delta",
    "thread/realtime/sdp",
    "thread/realtime/error",
    "thread/realtime/closed",
    "windows/worldWritableWarning",
    "windowsSandbox/setupCompleted",
];

server_requests! {
    ItemCommandExecutionRequestApproval "item/commandExecution/requestApproval":
        CommandExecutionRequestApprovalParams => CommandExecutionRequestApprovalResponse, Stable,
        |params| Some(&params.thread_id), ["additionalPermissions", "availableDecisions"];
    ItemFileChangeRequestApproval "item/fileChange/requestApproval":
        FileChangeRequestApprovalParams => FileChangeRequestApprovalResponse, Stable,
        |params| Some(&params.thread_id);
    ItemToolRequestUserInput "item/tool/requestUserInput":
        ToolRequestUserInputParams => ToolRequestUserInputResponse, Stable,
        |params| Some(&params.thread_id);
    McpServerElicitationRequest "mcpServer/elicitation/request":
        McpServerElicitationRequestParams => McpServerElicitationRequestResponse, Stable,
        |params| Some(&params.thread_id);
    ItemPermissionsRequestApproval "item/permissions/requestApproval":
        PermissionsRequestApprovalParams => PermissionsRequestApprovalResponse, Stable,
        |params| Some(&params.thread_id);
    ItemToolCall "item/tool/call": DynamicToolCallParams => DynamicToolCallResponse, Stable,
        |params| Some(&params.thread_id);
    AccountChatgptAuthTokensRefresh "account/chatgptAuthTokens/refresh":
        ChatgptAuthTokensRefreshParams => ChatgptAuthTokensRefreshResponse, Stable,
        |_| None;
    AttestationGenerate "attestation/generate": AttestationGenerateParams => AttestationGenerateResponse, Stable,
        |_| None;
    CurrentTimeRead "currentTime/read": CurrentTimeReadParams => CurrentTimeReadResponse, Experimental,
        |params| Some(&params.thread_id);
    ApplyPatchApproval "applyPatchApproval": ApplyPatchApprovalParams => ApplyPatchApprovalResponse, Stable,
        |params| Some(&params.conversation_id);
    ExecCommandApproval "execCommandApproval": ExecCommandApprovalParams => ExecCommandApprovalResponse, Stable,
        |params| Some(&params.conversation_id);
}

/// A notification of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientNotification {
    /// `initialized`: the client has received the response to `initialize`.
    Initialized,
}

impl ClientNotification {
    /// Decodes a notification. `None` if it has no meaning for the server.
    #[must_use]
    pub fn decode(method: &str) -> Option<Self> {
        (method == "initialized").then_some(Self::Initialized)
    }

    /// Returns the name of the method.
    #[must_use]
    pub fn method(self) -> &'static str {
        match self {
            Self::Initialized => "initialized",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::error::{INVALID_REQUEST, METHOD_NOT_FOUND};

    fn decode(method: &str, params: &Value, experimental: Experimental) -> Result<ClientRequest, RpcError> {
        ClientRequest::decode(method, Some(&RawValue::from_string(params.to_string()).expect("JSON")), experimental)
    }

    #[test]
    fn names_are_declared_once() {
        let mut names = BTreeSet::new();
        let mut methods = METHODS.iter().map(|info| info.name).chain(UNAVAILABLE_METHODS.iter().map(|info| info.name));
        assert!(methods.all(|name| names.insert(name)));
        let mut names = BTreeSet::new();
        let mut sent = NOTIFICATIONS.iter().map(|info| info.name).chain(UNSENT_NOTIFICATIONS.iter().copied());
        assert!(sent.all(|name| names.insert(name)));
    }

    #[test]
    fn bad_requests_name_the_method_and_the_field() {
        for (method, params, parts) in [
            ("no/such", json!({}), ["unknown method", "no/such"]),
            ("thread/read", json!({}), ["thread/read", "threadId"]),
            ("thread/read", json!(null), ["thread/read", "params"]),
            ("thread/read", json!([]), ["thread/read", "list"]),
            ("thread/read", json!({"threadId": 5}), ["thread/read", "invalid type"]),
            ("thread/list", json!({"limit": -1}), ["thread/list", "invalid"]),
            ("thread/start", json!({"sandbox": "none"}), ["thread/start", "none"]),
            ("fs/readFile", json!({"path": "a/b"}), ["fs/readFile", "not absolute"]),
            (
                "turn/start",
                json!({"threadId": "t", "input": [{"type": "image"}]}),
                ["turn/start", "`url` or a `fileId`"],
            ),
        ] {
            let error = decode(method, &params, Experimental::Enabled).expect_err("it is refused");
            assert_eq!(error.code, INVALID_REQUEST, "{error}");
            assert!(error.message.starts_with("Invalid request: "), "{error}");
            assert!(parts.iter().all(|part| error.message.contains(part)), "{error}");
        }
        let error = ClientRequest::decode("thread/list", None, Experimental::Enabled).expect_err("it is refused");
        assert_eq!(error.message, "Invalid request: thread/list: missing field `params`");
    }

    #[test]
    fn a_huge_wrong_value_does_not_come_back() {
        let error = decode("thread/start", &json!({"sandbox": "x".repeat(1_000_000)}), Experimental::Enabled)
            .expect_err("it is refused");
        assert!(error.message.len() < 2_000, "{}", error.message.len());
    }

    #[test]
    fn a_method_without_params_takes_anything() {
        let read = ClientRequest::ConfigRequirementsRead(Box::default());
        assert_eq!(
            ClientRequest::decode("configRequirements/read", None, Experimental::Disabled).expect("it decodes"),
            read
        );
        for params in [json!(null), json!({}), json!({"x": [1]})] {
            assert_eq!(decode("configRequirements/read", &params, Experimental::Disabled).expect("it decodes"), read);
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_null_is_absent() {
        let params = json!({"threadId": "t", "includeTurns": null, "of the future": {"a": 1}});
        let ClientRequest::ThreadRead(params) =
            decode("thread/read", &params, Experimental::Disabled).expect("it decodes")
        else {
            panic!("another method");
        };
        assert_eq!((&*params.thread_id, params.include_turns), ("t", false));
    }

    #[test]
    fn null_is_absent_within_params_too() {
        let with_nulls = json!({
            "threadId": "t",
            "input": [{"type": "text", "text": "x", "text_elements": null}],
            "sandboxPolicy": {"type": "workspaceWrite", "writableRoots": null, "networkAccess": null},
            "approvalPolicy": {
                "granular": {"mcp_elicitations": true, "rules": true, "sandbox_approval": true, "skill_approval": null},
            },
        });
        let without = json!({
            "threadId": "t",
            "input": [{"type": "text", "text": "x"}],
            "sandboxPolicy": {"type": "workspaceWrite"},
            "approvalPolicy": {"granular": {"mcp_elicitations": true, "rules": true, "sandbox_approval": true}},
        });
        let read = |params| decode("turn/start", params, Experimental::Enabled).expect("it decodes");
        assert_eq!(read(&with_nulls), read(&without));
    }

    #[test]
    fn experimental_things_need_the_capability() {
        for (method, params, name) in [
            ("thread/queue/list", json!({"threadId": "t"}), "thread/queue/list"),
            ("trace/list", json!({}), "trace/list"),
            ("thread/start", json!({"permissions": ":workspace"}), "thread/start.permissions"),
            ("thread/start", json!({"dynamicTools": []}), "thread/start.dynamicTools"),
            ("thread/fork", json!({"threadId": "t", "beforeTurnId": "u"}), "thread/fork.beforeTurnId"),
            ("thread/list", json!({"projectId": "p"}), "thread/list.projectId"),
            ("memory/reset", json!({}), "memory/reset"),
            ("thread/list", json!({"projectId": null}), "thread/list.projectId"),
            (
                "turn/start",
                json!({
                    "threadId": "t",
                    "input": [],
                    "approvalPolicy": {
                        "granular": {"mcp_elicitations": true, "rules": true, "sandbox_approval": false},
                    },
                }),
                "askForApproval.granular",
            ),
        ] {
            let error = decode(method, &params, Experimental::Disabled).expect_err("it is refused");
            assert_eq!(error.message, format!("{name} requires experimentalApi capability"));
            assert_eq!(error.code, INVALID_REQUEST);
        }
        let absent = json!({"permissions": null, "experimentalRawEvents": false, "model": "m"});
        assert!(decode("thread/start", &absent, Experimental::Disabled).is_ok());
        assert!(decode("thread/queue/list", &json!({"threadId": "t"}), Experimental::Enabled).is_ok());
    }

    #[test]
    fn what_is_not_offered_is_known() {
        let error = decode("marketplace/add", &json!({}), Experimental::Disabled).expect_err("it is refused");
        assert_eq!((error.code, &*error.message), (METHOD_NOT_FOUND, "`marketplace/add` is not available here"));
        let error = decode("memory/reset", &json!({}), Experimental::Enabled).expect_err("it is refused");
        assert_eq!(error.code, METHOD_NOT_FOUND);
    }

    #[test]
    fn scopes_come_out_of_the_params() {
        for (method, params, scope) in [
            ("turn/start", json!({"threadId": "t", "input": []}), Scope::Thread("t".to_owned())),
            ("thread/resume", json!({"threadId": "t"}), Scope::Thread("t".to_owned())),
            ("thread/resume", json!({"threadId": "t", "path": "/p"}), Scope::Path("/p".to_owned())),
            ("config/read", json!({}), Scope::Config(Access::Shared)),
            (
                "config/value/write",
                json!({"keyPath": "a", "value": 1, "mergeStrategy": "replace"}),
                Scope::Config(Access::Exclusive),
            ),
            ("command/exec", json!({"command": ["ls"]}), Scope::None),
            (
                "command/exec",
                json!({"command": ["ls"], "processId": "p"}),
                Scope::Connection(ConnectionScope::Command, "p".to_owned()),
            ),
            ("fs/unwatch", json!({"watchId": "w"}), Scope::Connection(ConnectionScope::Watch, "w".to_owned())),
            ("fuzzyFileSearch/sessionStop", json!({"sessionId": "s"}), Scope::Search("s".to_owned())),
            ("thread/list", json!({}), Scope::None),
        ] {
            assert_eq!(
                decode(method, &params, Experimental::Enabled).expect("it decodes").scope(),
                scope,
                "{method} {params}"
            );
        }
    }

    #[test]
    fn experimental_fields_of_a_request_are_removed() {
        let request = ServerRequest::from(CommandExecutionRequestApprovalParams {
            thread_id: "t".to_owned(),
            available_decisions: Some(Vec::new()),
            ..Default::default()
        });
        assert_eq!(request.params(Experimental::Enabled).expect("it is written")["availableDecisions"], json!([]));
        let line = request.encode(&RequestId::Integer(3), Experimental::Disabled).expect("it is written");
        assert!(
            line.starts_with(r#"{"id":3,"method":"item/commandExecution/requestApproval","params":{"threadId":"t""#)
        );
        assert!(!line.contains("availableDecisions"), "{line}");
    }

    #[test]
    fn deep_params_are_an_error() {
        let deep = format!(r#"{{"threadId":"t","items":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let raw = RawValue::from_string(deep).expect("JSON");
        let error = ClientRequest::decode("thread/inject_items", Some(&raw), Experimental::Disabled)
            .expect_err("it is refused");
        assert!(error.message.contains("recursion limit"), "{error}");
    }
}
