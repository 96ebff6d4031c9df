// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { BedrockCheckGovCloudRequirementsParams } from "./BedrockCheckGovCloudRequirementsParams";
import type { CollaborationModeListParams } from "./CollaborationModeListParams";
import type { CommandExecParams } from "./CommandExecParams";
import type { CommandExecResizeParams } from "./CommandExecResizeParams";
import type { CommandExecTerminateParams } from "./CommandExecTerminateParams";
import type { CommandExecWriteParams } from "./CommandExecWriteParams";
import type { ConfigBatchWriteParams } from "./ConfigBatchWriteParams";
import type { ConfigReadParams } from "./ConfigReadParams";
import type { ConfigValueWriteParams } from "./ConfigValueWriteParams";
import type { ExperimentalFeatureListParams } from "./ExperimentalFeatureListParams";
import type { FsCopyParams } from "./FsCopyParams";
import type { FsCreateDirectoryParams } from "./FsCreateDirectoryParams";
import type { FsGetMetadataParams } from "./FsGetMetadataParams";
import type { FsReadDirectoryParams } from "./FsReadDirectoryParams";
import type { FsReadFileParams } from "./FsReadFileParams";
import type { FsRemoveParams } from "./FsRemoveParams";
import type { FsUnwatchParams } from "./FsUnwatchParams";
import type { FsWatchParams } from "./FsWatchParams";
import type { FsWriteFileParams } from "./FsWriteFileParams";
import type { FuzzyFileSearchParams } from "./FuzzyFileSearchParams";
import type { FuzzyFileSearchSessionStartParams } from "./FuzzyFileSearchSessionStartParams";
import type { FuzzyFileSearchSessionStopParams } from "./FuzzyFileSearchSessionStopParams";
import type { FuzzyFileSearchSessionUpdateParams } from "./FuzzyFileSearchSessionUpdateParams";
import type { GetAccountParams } from "./GetAccountParams";
import type { HooksListParams } from "./HooksListParams";
import type { InitializeParams } from "./InitializeParams";
import type { ListMcpServerStatusParams } from "./ListMcpServerStatusParams";
import type { LoginAccountParams } from "./LoginAccountParams";
import type { McpResourceReadParams } from "./McpResourceReadParams";
import type { McpServerOauthLoginParams } from "./McpServerOauthLoginParams";
import type { McpServerPromptGetParams } from "./McpServerPromptGetParams";
import type { McpServerPromptListParams } from "./McpServerPromptListParams";
import type { McpServerToolCallParams } from "./McpServerToolCallParams";
import type { ModelListParams } from "./ModelListParams";
import type { ModelProviderCapabilitiesReadParams } from "./ModelProviderCapabilitiesReadParams";
import type { ModelProviderListParams } from "./ModelProviderListParams";
import type { NoParams } from "./NoParams";
import type { PermissionProfileListParams } from "./PermissionProfileListParams";
import type { PluginInstalledParams } from "./PluginInstalledParams";
import type { ProcessKillParams } from "./ProcessKillParams";
import type { ProcessResizePtyParams } from "./ProcessResizePtyParams";
import type { ProcessSpawnParams } from "./ProcessSpawnParams";
import type { ProcessWriteStdinParams } from "./ProcessWriteStdinParams";
import type { RequestId } from "./RequestId";
import type { ReviewStartParams } from "./ReviewStartParams";
import type { ServerDiagnosticsParams } from "./ServerDiagnosticsParams";
import type { SkillsListParams } from "./SkillsListParams";
import type { ThreadArchiveParams } from "./ThreadArchiveParams";
import type { ThreadBackgroundTerminalsCleanParams } from "./ThreadBackgroundTerminalsCleanParams";
import type { ThreadBackgroundTerminalsListParams } from "./ThreadBackgroundTerminalsListParams";
import type { ThreadBackgroundTerminalsTerminateParams } from "./ThreadBackgroundTerminalsTerminateParams";
import type { ThreadCompactStartParams } from "./ThreadCompactStartParams";
import type { ThreadDeleteParams } from "./ThreadDeleteParams";
import type { ThreadForkParams } from "./ThreadForkParams";
import type { ThreadGoalClearParams } from "./ThreadGoalClearParams";
import type { ThreadGoalGetParams } from "./ThreadGoalGetParams";
import type { ThreadGoalSetParams } from "./ThreadGoalSetParams";
import type { ThreadInjectItemsParams } from "./ThreadInjectItemsParams";
import type { ThreadItemsListParams } from "./ThreadItemsListParams";
import type { ThreadItemsReadParams } from "./ThreadItemsReadParams";
import type { ThreadListParams } from "./ThreadListParams";
import type { ThreadLoadedListParams } from "./ThreadLoadedListParams";
import type { ThreadMetadataUpdateParams } from "./ThreadMetadataUpdateParams";
import type { ThreadQueueAddParams } from "./ThreadQueueAddParams";
import type { ThreadQueueDeleteParams } from "./ThreadQueueDeleteParams";
import type { ThreadQueueListParams } from "./ThreadQueueListParams";
import type { ThreadQueueReorderParams } from "./ThreadQueueReorderParams";
import type { ThreadQueueStartParams } from "./ThreadQueueStartParams";
import type { ThreadQueueUpdateParams } from "./ThreadQueueUpdateParams";
import type { ThreadReadParams } from "./ThreadReadParams";
import type { ThreadReadStateUpdateParams } from "./ThreadReadStateUpdateParams";
import type { ThreadResumeParams } from "./ThreadResumeParams";
import type { ThreadRevertParams } from "./ThreadRevertParams";
import type { ThreadRollbackParams } from "./ThreadRollbackParams";
import type { ThreadSearchOccurrencesParams } from "./ThreadSearchOccurrencesParams";
import type { ThreadSearchParams } from "./ThreadSearchParams";
import type { ThreadSetNameParams } from "./ThreadSetNameParams";
import type { ThreadSettingsUpdateParams } from "./ThreadSettingsUpdateParams";
import type { ThreadShellCommandParams } from "./ThreadShellCommandParams";
import type { ThreadStartParams } from "./ThreadStartParams";
import type { ThreadTurnsListParams } from "./ThreadTurnsListParams";
import type { ThreadUnarchiveParams } from "./ThreadUnarchiveParams";
import type { ThreadUnsubscribeParams } from "./ThreadUnsubscribeParams";
import type { TraceContext } from "./TraceContext";
import type { TraceListParams } from "./TraceListParams";
import type { TraceReadParams } from "./TraceReadParams";
import type { TraceSubscribeParams } from "./TraceSubscribeParams";
import type { TraceUnsubscribeParams } from "./TraceUnsubscribeParams";
import type { TurnInterruptParams } from "./TurnInterruptParams";
import type { TurnSettingsUpdateParams } from "./TurnSettingsUpdateParams";
import type { TurnStartParams } from "./TurnStartParams";
import type { TurnSteerParams } from "./TurnSteerParams";

export type ClientRequest =
  | { "id": RequestId, "method": "initialize", "params": InitializeParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "server/diagnostics", "params": ServerDiagnosticsParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/start", "params": ThreadStartParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/resume", "params": ThreadResumeParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/fork", "params": ThreadForkParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/archive", "params": ThreadArchiveParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/delete", "params": ThreadDeleteParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/unsubscribe", "params": ThreadUnsubscribeParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/name/set", "params": ThreadSetNameParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/metadata/update", "params": ThreadMetadataUpdateParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/settings/update", "params": ThreadSettingsUpdateParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/unarchive", "params": ThreadUnarchiveParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/compact/start", "params": ThreadCompactStartParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/shellCommand", "params": ThreadShellCommandParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/backgroundTerminals/clean", "params": ThreadBackgroundTerminalsCleanParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/backgroundTerminals/list", "params": ThreadBackgroundTerminalsListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/backgroundTerminals/terminate", "params": ThreadBackgroundTerminalsTerminateParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/revert", "params": ThreadRevertParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/list", "params": ThreadListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/loaded/list", "params": ThreadLoadedListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/read", "params": ThreadReadParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/readState/update", "params": ThreadReadStateUpdateParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/inject_items", "params": ThreadInjectItemsParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/search", "params": ThreadSearchParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/searchOccurrences", "params": ThreadSearchOccurrencesParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/turns/list", "params": ThreadTurnsListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/items/list", "params": ThreadItemsListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/items/read", "params": ThreadItemsReadParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/goal/set", "params": ThreadGoalSetParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/goal/get", "params": ThreadGoalGetParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/goal/clear", "params": ThreadGoalClearParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/queue/add", "params": ThreadQueueAddParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/queue/list", "params": ThreadQueueListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/queue/update", "params": ThreadQueueUpdateParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/queue/delete", "params": ThreadQueueDeleteParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/queue/reorder", "params": ThreadQueueReorderParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/queue/start", "params": ThreadQueueStartParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "turn/start", "params": TurnStartParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "turn/settings/update", "params": TurnSettingsUpdateParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "turn/steer", "params": TurnSteerParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "turn/interrupt", "params": TurnInterruptParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "review/start", "params": ReviewStartParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "skills/list", "params": SkillsListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "hooks/list", "params": HooksListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "plugin/installed", "params": PluginInstalledParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "model/list", "params": ModelListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "modelProvider/list", "params": ModelProviderListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "modelProvider/capabilities/read", "params": ModelProviderCapabilitiesReadParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "experimentalFeature/list", "params": ExperimentalFeatureListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "permissionProfile/list", "params": PermissionProfileListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "collaborationMode/list", "params": CollaborationModeListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "mcpServerStatus/list", "params": ListMcpServerStatusParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "mcpServer/oauth/login", "params": McpServerOauthLoginParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "config/mcpServer/reload", "params"?: NoParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "mcpServer/tool/call", "params": McpServerToolCallParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "mcpServer/resource/read", "params": McpResourceReadParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "mcpServer/prompt/list", "params": McpServerPromptListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "mcpServer/prompt/get", "params": McpServerPromptGetParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "account/bedrock/checkGovCloudRequirements", "params": BedrockCheckGovCloudRequirementsParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "config/read", "params": ConfigReadParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "config/value/write", "params": ConfigValueWriteParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "config/batchWrite", "params": ConfigBatchWriteParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "configRequirements/read", "params"?: NoParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "account/read", "params": GetAccountParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "account/login/start", "params": LoginAccountParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "account/logout", "params"?: NoParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fs/readFile", "params": FsReadFileParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fs/writeFile", "params": FsWriteFileParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fs/createDirectory", "params": FsCreateDirectoryParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fs/getMetadata", "params": FsGetMetadataParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fs/readDirectory", "params": FsReadDirectoryParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fs/remove", "params": FsRemoveParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fs/copy", "params": FsCopyParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fs/watch", "params": FsWatchParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fs/unwatch", "params": FsUnwatchParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "command/exec", "params": CommandExecParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "command/exec/write", "params": CommandExecWriteParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "command/exec/terminate", "params": CommandExecTerminateParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "command/exec/resize", "params": CommandExecResizeParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "process/spawn", "params": ProcessSpawnParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "process/writeStdin", "params": ProcessWriteStdinParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "process/kill", "params": ProcessKillParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "process/resizePty", "params": ProcessResizePtyParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fuzzyFileSearch", "params": FuzzyFileSearchParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fuzzyFileSearch/sessionStart", "params": FuzzyFileSearchSessionStartParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fuzzyFileSearch/sessionUpdate", "params": FuzzyFileSearchSessionUpdateParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "fuzzyFileSearch/sessionStop", "params": FuzzyFileSearchSessionStopParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/rollback", "params": ThreadRollbackParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "trace/list", "params": TraceListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "trace/read", "params": TraceReadParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "trace/subscribe", "params": TraceSubscribeParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "trace/unsubscribe", "params": TraceUnsubscribeParams, "trace"?: TraceContext | null };
