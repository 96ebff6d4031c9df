// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CommandExecResizeResponse } from "./CommandExecResizeResponse";
import type { CommandExecResponse } from "./CommandExecResponse";
import type { CommandExecTerminateResponse } from "./CommandExecTerminateResponse";
import type { CommandExecWriteResponse } from "./CommandExecWriteResponse";
import type { ConfigReadResponse } from "./ConfigReadResponse";
import type { ConfigRequirementsReadResponse } from "./ConfigRequirementsReadResponse";
import type { ConfigWriteResponse } from "./ConfigWriteResponse";
import type { ExperimentalFeatureListResponse } from "./ExperimentalFeatureListResponse";
import type { FsCopyResponse } from "./FsCopyResponse";
import type { FsCreateDirectoryResponse } from "./FsCreateDirectoryResponse";
import type { FsGetMetadataResponse } from "./FsGetMetadataResponse";
import type { FsReadDirectoryResponse } from "./FsReadDirectoryResponse";
import type { FsReadFileResponse } from "./FsReadFileResponse";
import type { FsRemoveResponse } from "./FsRemoveResponse";
import type { FsUnwatchResponse } from "./FsUnwatchResponse";
import type { FsWatchResponse } from "./FsWatchResponse";
import type { FsWriteFileResponse } from "./FsWriteFileResponse";
import type { FuzzyFileSearchResponse } from "./FuzzyFileSearchResponse";
import type { GetAccountResponse } from "./GetAccountResponse";
import type { HooksListResponse } from "./HooksListResponse";
import type { InitializeResponse } from "./InitializeResponse";
import type { ListMcpServerStatusResponse } from "./ListMcpServerStatusResponse";
import type { LoginAccountResponse } from "./LoginAccountResponse";
import type { LogoutAccountResponse } from "./LogoutAccountResponse";
import type { McpResourceReadResponse } from "./McpResourceReadResponse";
import type { McpServerOauthLoginResponse } from "./McpServerOauthLoginResponse";
import type { McpServerRefreshResponse } from "./McpServerRefreshResponse";
import type { McpServerToolCallResponse } from "./McpServerToolCallResponse";
import type { ModelListResponse } from "./ModelListResponse";
import type { ModelProviderCapabilitiesReadResponse } from "./ModelProviderCapabilitiesReadResponse";
import type { ModelProviderListResponse } from "./ModelProviderListResponse";
import type { PermissionProfileListResponse } from "./PermissionProfileListResponse";
import type { PluginInstalledResponse } from "./PluginInstalledResponse";
import type { ReviewStartResponse } from "./ReviewStartResponse";
import type { SkillsListResponse } from "./SkillsListResponse";
import type { ThreadArchiveResponse } from "./ThreadArchiveResponse";
import type { ThreadCompactStartResponse } from "./ThreadCompactStartResponse";
import type { ThreadDeleteResponse } from "./ThreadDeleteResponse";
import type { ThreadForkResponse } from "./ThreadForkResponse";
import type { ThreadGoalClearResponse } from "./ThreadGoalClearResponse";
import type { ThreadGoalGetResponse } from "./ThreadGoalGetResponse";
import type { ThreadGoalSetResponse } from "./ThreadGoalSetResponse";
import type { ThreadInjectItemsResponse } from "./ThreadInjectItemsResponse";
import type { ThreadItemsListResponse } from "./ThreadItemsListResponse";
import type { ThreadListResponse } from "./ThreadListResponse";
import type { ThreadLoadedListResponse } from "./ThreadLoadedListResponse";
import type { ThreadMetadataUpdateResponse } from "./ThreadMetadataUpdateResponse";
import type { ThreadReadResponse } from "./ThreadReadResponse";
import type { ThreadResumeResponse } from "./ThreadResumeResponse";
import type { ThreadRevertResponse } from "./ThreadRevertResponse";
import type { ThreadRollbackResponse } from "./ThreadRollbackResponse";
import type { ThreadSetNameResponse } from "./ThreadSetNameResponse";
import type { ThreadShellCommandResponse } from "./ThreadShellCommandResponse";
import type { ThreadStartResponse } from "./ThreadStartResponse";
import type { ThreadTurnsListResponse } from "./ThreadTurnsListResponse";
import type { ThreadUnarchiveResponse } from "./ThreadUnarchiveResponse";
import type { ThreadUnsubscribeResponse } from "./ThreadUnsubscribeResponse";
import type { TurnInterruptResponse } from "./TurnInterruptResponse";
import type { TurnStartResponse } from "./TurnStartResponse";
import type { TurnSteerResponse } from "./TurnSteerResponse";

export type ClientResults = {
  "initialize": InitializeResponse,
  "thread/start": ThreadStartResponse,
  "thread/resume": ThreadResumeResponse,
  "thread/fork": ThreadForkResponse,
  "thread/archive": ThreadArchiveResponse,
  "thread/delete": ThreadDeleteResponse,
  "thread/unsubscribe": ThreadUnsubscribeResponse,
  "thread/name/set": ThreadSetNameResponse,
  "thread/metadata/update": ThreadMetadataUpdateResponse,
  "thread/unarchive": ThreadUnarchiveResponse,
  "thread/compact/start": ThreadCompactStartResponse,
  "thread/shellCommand": ThreadShellCommandResponse,
  "thread/revert": ThreadRevertResponse,
  "thread/list": ThreadListResponse,
  "thread/loaded/list": ThreadLoadedListResponse,
  "thread/read": ThreadReadResponse,
  "thread/inject_items": ThreadInjectItemsResponse,
  "thread/turns/list": ThreadTurnsListResponse,
  "thread/items/list": ThreadItemsListResponse,
  "thread/goal/set": ThreadGoalSetResponse,
  "thread/goal/get": ThreadGoalGetResponse,
  "thread/goal/clear": ThreadGoalClearResponse,
  "turn/start": TurnStartResponse,
  "turn/steer": TurnSteerResponse,
  "turn/interrupt": TurnInterruptResponse,
  "review/start": ReviewStartResponse,
  "skills/list": SkillsListResponse,
  "hooks/list": HooksListResponse,
  "plugin/installed": PluginInstalledResponse,
  "model/list": ModelListResponse,
  "modelProvider/list": ModelProviderListResponse,
  "modelProvider/capabilities/read": ModelProviderCapabilitiesReadResponse,
  "experimentalFeature/list": ExperimentalFeatureListResponse,
  "permissionProfile/list": PermissionProfileListResponse,
  "mcpServerStatus/list": ListMcpServerStatusResponse,
  "mcpServer/oauth/login": McpServerOauthLoginResponse,
  "config/mcpServer/reload": McpServerRefreshResponse,
  "mcpServer/tool/call": McpServerToolCallResponse,
  "mcpServer/resource/read": McpResourceReadResponse,
  "config/read": ConfigReadResponse,
  "config/value/write": ConfigWriteResponse,
  "config/batchWrite": ConfigWriteResponse,
  "configRequirements/read": ConfigRequirementsReadResponse,
  "account/read": GetAccountResponse,
  "account/login/start": LoginAccountResponse,
  "account/logout": LogoutAccountResponse,
  "fs/readFile": FsReadFileResponse,
  "fs/writeFile": FsWriteFileResponse,
  "fs/createDirectory": FsCreateDirectoryResponse,
  "fs/getMetadata": FsGetMetadataResponse,
  "fs/readDirectory": FsReadDirectoryResponse,
  "fs/remove": FsRemoveResponse,
  "fs/copy": FsCopyResponse,
  "fs/watch": FsWatchResponse,
  "fs/unwatch": FsUnwatchResponse,
  "command/exec": CommandExecResponse,
  "command/exec/write": CommandExecWriteResponse,
  "command/exec/terminate": CommandExecTerminateResponse,
  "command/exec/resize": CommandExecResizeResponse,
  "fuzzyFileSearch": FuzzyFileSearchResponse,
  "thread/rollback": ThreadRollbackResponse,
};
