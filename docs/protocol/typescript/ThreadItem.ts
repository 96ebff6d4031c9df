// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AgentMessageItem } from "./AgentMessageItem";
import type { CollabAgentToolCallItem } from "./CollabAgentToolCallItem";
import type { CommandExecutionItem } from "./CommandExecutionItem";
import type { ContextCompactionItem } from "./ContextCompactionItem";
import type { DynamicToolCallItem } from "./DynamicToolCallItem";
import type { EnteredReviewModeItem } from "./EnteredReviewModeItem";
import type { ExitedReviewModeItem } from "./ExitedReviewModeItem";
import type { FileChangeItem } from "./FileChangeItem";
import type { FunctionCallOutputItem } from "./FunctionCallOutputItem";
import type { HookPromptItem } from "./HookPromptItem";
import type { ImageGenerationItem } from "./ImageGenerationItem";
import type { ImageViewItem } from "./ImageViewItem";
import type { McpToolCallItem } from "./McpToolCallItem";
import type { PlanItem } from "./PlanItem";
import type { ReasoningItem } from "./ReasoningItem";
import type { SleepItem } from "./SleepItem";
import type { SubAgentActivityItem } from "./SubAgentActivityItem";
import type { UserMessageItem } from "./UserMessageItem";
import type { WebSearchItem } from "./WebSearchItem";

/**
 * An item of a turn.
 */
export type ThreadItem = { "type": "userMessage" } & UserMessageItem | { "type": "hookPrompt" } & HookPromptItem | { "type": "agentMessage" } & AgentMessageItem | { "type": "functionCallOutput" } & FunctionCallOutputItem | { "type": "plan" } & PlanItem | { "type": "reasoning" } & ReasoningItem | { "type": "commandExecution" } & CommandExecutionItem | { "type": "fileChange" } & FileChangeItem | { "type": "mcpToolCall" } & McpToolCallItem | { "type": "dynamicToolCall" } & DynamicToolCallItem | { "type": "collabAgentToolCall" } & CollabAgentToolCallItem | { "type": "subAgentActivity" } & SubAgentActivityItem | { "type": "webSearch" } & WebSearchItem | { "type": "imageView" } & ImageViewItem | { "type": "sleep" } & SleepItem | { "type": "imageGeneration" } & ImageGenerationItem | { "type": "enteredReviewMode" } & EnteredReviewModeItem | { "type": "exitedReviewMode" } & ExitedReviewModeItem | { "type": "contextCompaction" } & ContextCompactionItem;
