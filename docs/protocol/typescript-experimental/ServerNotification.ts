// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AccountLoginCompletedNotification } from "./AccountLoginCompletedNotification";
import type { AccountRateLimitsUpdatedNotification } from "./AccountRateLimitsUpdatedNotification";
import type { AccountUpdatedNotification } from "./AccountUpdatedNotification";
import type { AgentMessageDeltaNotification } from "./AgentMessageDeltaNotification";
import type { CommandExecOutputDeltaNotification } from "./CommandExecOutputDeltaNotification";
import type { CommandExecutionOutputDeltaNotification } from "./CommandExecutionOutputDeltaNotification";
import type { ConfigWarningNotification } from "./ConfigWarningNotification";
import type { ContextCompactedNotification } from "./ContextCompactedNotification";
import type { DeprecationNoticeNotification } from "./DeprecationNoticeNotification";
import type { ErrorNotification } from "./ErrorNotification";
import type { FileChangeOutputDeltaNotification } from "./FileChangeOutputDeltaNotification";
import type { FileChangePatchUpdatedNotification } from "./FileChangePatchUpdatedNotification";
import type { FsChangedNotification } from "./FsChangedNotification";
import type { FuzzyFileSearchSessionCompletedNotification } from "./FuzzyFileSearchSessionCompletedNotification";
import type { FuzzyFileSearchSessionUpdatedNotification } from "./FuzzyFileSearchSessionUpdatedNotification";
import type { HookCompletedNotification } from "./HookCompletedNotification";
import type { HookStartedNotification } from "./HookStartedNotification";
import type { ItemCompletedNotification } from "./ItemCompletedNotification";
import type { ItemStartedNotification } from "./ItemStartedNotification";
import type { McpServerOauthLoginCompletedNotification } from "./McpServerOauthLoginCompletedNotification";
import type { McpServerStatusUpdatedNotification } from "./McpServerStatusUpdatedNotification";
import type { McpToolCallProgressNotification } from "./McpToolCallProgressNotification";
import type { ModelReroutedNotification } from "./ModelReroutedNotification";
import type { PlanDeltaNotification } from "./PlanDeltaNotification";
import type { ProcessExitedNotification } from "./ProcessExitedNotification";
import type { ProcessOutputDeltaNotification } from "./ProcessOutputDeltaNotification";
import type { ReasoningSummaryPartAddedNotification } from "./ReasoningSummaryPartAddedNotification";
import type { ReasoningSummaryTextDeltaNotification } from "./ReasoningSummaryTextDeltaNotification";
import type { ReasoningTextDeltaNotification } from "./ReasoningTextDeltaNotification";
import type { RemoteControlStatusChangedNotification } from "./RemoteControlStatusChangedNotification";
import type { ServerRequestResolvedNotification } from "./ServerRequestResolvedNotification";
import type { SkillsChangedNotification } from "./SkillsChangedNotification";
import type { TerminalInteractionNotification } from "./TerminalInteractionNotification";
import type { ThreadArchivedNotification } from "./ThreadArchivedNotification";
import type { ThreadClosedNotification } from "./ThreadClosedNotification";
import type { ThreadDeletedNotification } from "./ThreadDeletedNotification";
import type { ThreadGoalClearedNotification } from "./ThreadGoalClearedNotification";
import type { ThreadGoalUpdatedNotification } from "./ThreadGoalUpdatedNotification";
import type { ThreadNameUpdatedNotification } from "./ThreadNameUpdatedNotification";
import type { ThreadQueueChangedNotification } from "./ThreadQueueChangedNotification";
import type { ThreadReadStateChangedNotification } from "./ThreadReadStateChangedNotification";
import type { ThreadRevertedNotification } from "./ThreadRevertedNotification";
import type { ThreadSettingsUpdatedNotification } from "./ThreadSettingsUpdatedNotification";
import type { ThreadStartedNotification } from "./ThreadStartedNotification";
import type { ThreadStatusChangedNotification } from "./ThreadStatusChangedNotification";
import type { ThreadTokenUsageUpdatedNotification } from "./ThreadTokenUsageUpdatedNotification";
import type { ThreadUnarchivedNotification } from "./ThreadUnarchivedNotification";
import type { TraceChangedNotification } from "./TraceChangedNotification";
import type { TurnCompletedNotification } from "./TurnCompletedNotification";
import type { TurnDiffUpdatedNotification } from "./TurnDiffUpdatedNotification";
import type { TurnPlanUpdatedNotification } from "./TurnPlanUpdatedNotification";
import type { TurnStartedNotification } from "./TurnStartedNotification";
import type { WarningNotification } from "./WarningNotification";

export type ServerNotification =
  | { "method": "error", "params": ErrorNotification, "emittedAtMs"?: number }
  | { "method": "thread/started", "params": ThreadStartedNotification, "emittedAtMs"?: number }
  | { "method": "thread/status/changed", "params": ThreadStatusChangedNotification, "emittedAtMs"?: number }
  | { "method": "thread/readState/changed", "params": ThreadReadStateChangedNotification, "emittedAtMs"?: number }
  | { "method": "thread/archived", "params": ThreadArchivedNotification, "emittedAtMs"?: number }
  | { "method": "thread/deleted", "params": ThreadDeletedNotification, "emittedAtMs"?: number }
  | { "method": "thread/unarchived", "params": ThreadUnarchivedNotification, "emittedAtMs"?: number }
  | { "method": "thread/closed", "params": ThreadClosedNotification, "emittedAtMs"?: number }
  | { "method": "thread/reverted", "params": ThreadRevertedNotification, "emittedAtMs"?: number }
  | { "method": "skills/changed", "params": SkillsChangedNotification, "emittedAtMs"?: number }
  | { "method": "thread/name/updated", "params": ThreadNameUpdatedNotification, "emittedAtMs"?: number }
  | { "method": "thread/goal/updated", "params": ThreadGoalUpdatedNotification, "emittedAtMs"?: number }
  | { "method": "thread/goal/cleared", "params": ThreadGoalClearedNotification, "emittedAtMs"?: number }
  | { "method": "thread/queue/changed", "params": ThreadQueueChangedNotification, "emittedAtMs"?: number }
  | { "method": "thread/settings/updated", "params": ThreadSettingsUpdatedNotification, "emittedAtMs"?: number }
  | { "method": "thread/tokenUsage/updated", "params": ThreadTokenUsageUpdatedNotification, "emittedAtMs"?: number }
  | { "method": "turn/started", "params": TurnStartedNotification, "emittedAtMs"?: number }
  | { "method": "hook/started", "params": HookStartedNotification, "emittedAtMs"?: number }
  | { "method": "turn/completed", "params": TurnCompletedNotification, "emittedAtMs"?: number }
  | { "method": "hook/completed", "params": HookCompletedNotification, "emittedAtMs"?: number }
  | { "method": "turn/diff/updated", "params": TurnDiffUpdatedNotification, "emittedAtMs"?: number }
  | { "method": "turn/plan/updated", "params": TurnPlanUpdatedNotification, "emittedAtMs"?: number }
  | { "method": "item/started", "params": ItemStartedNotification, "emittedAtMs"?: number }
  | { "method": "item/completed", "params": ItemCompletedNotification, "emittedAtMs"?: number }
  | { "method": "item/agentMessage/delta", "params": AgentMessageDeltaNotification, "emittedAtMs"?: number }
  | { "method": "item/plan/delta", "params": PlanDeltaNotification, "emittedAtMs"?: number }
  | { "method": "command/exec/outputDelta", "params": CommandExecOutputDeltaNotification, "emittedAtMs"?: number }
  | { "method": "process/outputDelta", "params": ProcessOutputDeltaNotification, "emittedAtMs"?: number }
  | { "method": "process/exited", "params": ProcessExitedNotification, "emittedAtMs"?: number }
  | { "method": "item/commandExecution/outputDelta", "params": CommandExecutionOutputDeltaNotification, "emittedAtMs"?: number }
  | { "method": "item/commandExecution/terminalInteraction", "params": TerminalInteractionNotification, "emittedAtMs"?: number }
  | { "method": "item/fileChange/outputDelta", "params": FileChangeOutputDeltaNotification, "emittedAtMs"?: number }
  | { "method": "item/fileChange/patchUpdated", "params": FileChangePatchUpdatedNotification, "emittedAtMs"?: number }
  | { "method": "serverRequest/resolved", "params": ServerRequestResolvedNotification, "emittedAtMs"?: number }
  | { "method": "item/mcpToolCall/progress", "params": McpToolCallProgressNotification, "emittedAtMs"?: number }
  | { "method": "mcpServer/startupStatus/updated", "params": McpServerStatusUpdatedNotification, "emittedAtMs"?: number }
  | { "method": "mcpServer/oauthLogin/completed", "params": McpServerOauthLoginCompletedNotification, "emittedAtMs"?: number }
  | { "method": "account/login/completed", "params": AccountLoginCompletedNotification, "emittedAtMs"?: number }
  | { "method": "account/updated", "params": AccountUpdatedNotification, "emittedAtMs"?: number }
  | { "method": "account/rateLimits/updated", "params": AccountRateLimitsUpdatedNotification, "emittedAtMs"?: number }
  | { "method": "remoteControl/status/changed", "params": RemoteControlStatusChangedNotification, "emittedAtMs"?: number }
  | { "method": "fs/changed", "params": FsChangedNotification, "emittedAtMs"?: number }
  | { "method": "item/reasoning/summaryTextDelta", "params": ReasoningSummaryTextDeltaNotification, "emittedAtMs"?: number }
  | { "method": "item/reasoning/summaryPartAdded", "params": ReasoningSummaryPartAddedNotification, "emittedAtMs"?: number }
  | { "method": "item/reasoning/textDelta", "params": ReasoningTextDeltaNotification, "emittedAtMs"?: number }
  | { "method": "thread/compacted", "params": ContextCompactedNotification, "emittedAtMs"?: number }
  | { "method": "model/rerouted", "params": ModelReroutedNotification, "emittedAtMs"?: number }
  | { "method": "warning", "params": WarningNotification, "emittedAtMs"?: number }
  | { "method": "deprecationNotice", "params": DeprecationNoticeNotification, "emittedAtMs"?: number }
  | { "method": "configWarning", "params": ConfigWarningNotification, "emittedAtMs"?: number }
  | { "method": "fuzzyFileSearch/sessionUpdated", "params": FuzzyFileSearchSessionUpdatedNotification, "emittedAtMs"?: number }
  | { "method": "fuzzyFileSearch/sessionCompleted", "params": FuzzyFileSearchSessionCompletedNotification, "emittedAtMs"?: number }
  | { "method": "trace/changed", "params": TraceChangedNotification, "emittedAtMs"?: number };
