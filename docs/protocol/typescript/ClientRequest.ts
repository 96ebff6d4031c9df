// Made by `trace schema --ts` from the server's types. Changes here are lost.
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
import type { GetAccountParams } from "./GetAccountParams";
import type { HooksListParams } from "./HooksListParams";
import type { InitializeParams } from "./InitializeParams";
import type { ListMcpServerStatusParams } from "./ListMcpServerStatusParams";
import type { LoginAccountParams } from "./LoginAccountParams";
import type { McpResourceReadParams } from "./McpResourceReadParams";
import type { McpServerOauthLoginParams } from "./McpServerOauthLoginParams";
import type { McpServerToolCallParams } from "./McpServerToolCallParams";
import type { ModelListParams } from "./ModelListParams";
import type { ModelProviderCapabilitiesReadParams } from "./ModelProviderCapabilitiesReadParams";
import type { ModelProviderListParams } from "./ModelProviderListParams";
import type { NoParams } from "./NoParams";
import type { PermissionProfileListParams } from "./PermissionProfileListParams";
import type { PluginInstalledParams } from "./PluginInstalledParams";
import type { RequestId } from "./RequestId";
import type { ReviewStartParams } from "./ReviewStartParams";
import type { SkillsListParams } from "./SkillsListParams";
import type { ThreadArchiveParams } from "./ThreadArchiveParams";
import type { ThreadCompactStartParams } from "./ThreadCompactStartParams";
import type { ThreadDeleteParams } from "./ThreadDeleteParams";
import type { ThreadForkParams } from "./ThreadForkParams";
import type { ThreadGoalClearParams } from "./ThreadGoalClearParams";
import type { ThreadGoalGetParams } from "./ThreadGoalGetParams";
import type { ThreadGoalSetParams } from "./ThreadGoalSetParams";
import type { ThreadInjectItemsParams } from "./ThreadInjectItemsParams";
import type { ThreadItemsListParams } from "./ThreadItemsListParams";
import type { ThreadListParams } from "./ThreadListParams";
import type { ThreadLoadedListParams } from "./ThreadLoadedListParams";
import type { ThreadMetadataUpdateParams } from "./ThreadMetadataUpdateParams";
import type { ThreadReadParams } from "./ThreadReadParams";
import type { ThreadResumeParams } from "./ThreadResumeParams";
import type { ThreadRevertParams } from "./ThreadRevertParams";
import type { ThreadRollbackParams } from "./ThreadRollbackParams";
import type { ThreadSetNameParams } from "./ThreadSetNameParams";
import type { ThreadShellCommandParams } from "./ThreadShellCommandParams";
import type { ThreadStartParams } from "./ThreadStartParams";
import type { ThreadTurnsListParams } from "./ThreadTurnsListParams";
import type { ThreadUnarchiveParams } from "./ThreadUnarchiveParams";
import type { ThreadUnsubscribeParams } from "./ThreadUnsubscribeParams";
import type { TraceContext } from "./TraceContext";
import type { TurnInterruptParams } from "./TurnInterruptParams";
import type { TurnStartParams } from "./TurnStartParams";
import type { TurnSteerParams } from "./TurnSteerParams";

export type ClientRequest =
  | { "id": RequestId, "method": "initialize", "params": InitializeParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/start", "params": ThreadStartParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/resume", "params": ThreadResumeParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/fork", "params": ThreadForkParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/archive", "params": ThreadArchiveParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/delete", "params": ThreadDeleteParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/unsubscribe", "params": ThreadUnsubscribeParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/name/set", "params": ThreadSetNameParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/metadata/update", "params": ThreadMetadataUpdateParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/unarchive", "params": ThreadUnarchiveParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/compact/start", "params": ThreadCompactStartParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/shellCommand", "params": ThreadShellCommandParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/revert", "params": ThreadRevertParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/list", "params": ThreadListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/loaded/list", "params": ThreadLoadedListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/read", "params": ThreadReadParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/inject_items", "params": ThreadInjectItemsParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/turns/list", "params": ThreadTurnsListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/items/list", "params": ThreadItemsListParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/goal/set", "params": ThreadGoalSetParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/goal/get", "params": ThreadGoalGetParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/goal/clear", "params": ThreadGoalClearParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "turn/start", "params": TurnStartParams, "trace"?: TraceContext | null }
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
  | { "id": RequestId, "method": "mcpServerStatus/list", "params": ListMcpServerStatusParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "mcpServer/oauth/login", "params": McpServerOauthLoginParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "config/mcpServer/reload", "params"?: NoParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "mcpServer/tool/call", "params": McpServerToolCallParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "mcpServer/resource/read", "params": McpResourceReadParams, "trace"?: TraceContext | null }
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
  | { "id": RequestId, "method": "fuzzyFileSearch", "params": FuzzyFileSearchParams, "trace"?: TraceContext | null }
  | { "id": RequestId, "method": "thread/rollback", "params": ThreadRollbackParams, "trace"?: TraceContext | null };
