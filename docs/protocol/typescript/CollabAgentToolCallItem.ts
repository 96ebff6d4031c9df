// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CollabAgentState } from "./CollabAgentState";
import type { CollabAgentTool } from "./CollabAgentTool";
import type { CollabAgentToolCallStatus } from "./CollabAgentToolCallStatus";

/**
 * A call of a tool by which agents work together.
 */
export type CollabAgentToolCallItem = {
/**
 * The id.
 */
id: string,
/**
 * The states of the agents that the call was about, by thread.
 */
agentsStates: { [key in string]: CollabAgentState },
/**
 * The threads that it goes to.
 */
receiverThreadIds: Array<string>,
/**
 * The thread that it comes from.
 */
senderThreadId: string,
/**
 * How far it is, or what became of it.
 */
status: CollabAgentToolCallStatus,
/**
 * The tool.
 */
tool: CollabAgentTool,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * The model.
 */
model?: string | null,
/**
 * What the agent is told.
 */
prompt?: string | null,
/**
 * How hard the model thinks.
 */
reasoningEffort?: string | null, };
