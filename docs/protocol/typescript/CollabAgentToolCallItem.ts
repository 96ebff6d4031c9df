// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CollabAgentState } from "./CollabAgentState";
import type { CollabAgentTool } from "./CollabAgentTool";
import type { CollabAgentToolCallStatus } from "./CollabAgentToolCallStatus";

/**
 * A call of a tool for the collaboration of agents.
 */
export type CollabAgentToolCallItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * States of the agents that the call is about, by thread id.
 */
agentsStates: { [key in string]: CollabAgentState },
/**
 * Ids of the threads that the call is directed to.
 */
receiverThreadIds: Array<string>,
/**
 * Id of the thread that made the call.
 */
senderThreadId: string,
/**
 * The status.
 */
status: CollabAgentToolCallStatus,
/**
 * The tool.
 */
tool: CollabAgentTool,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * Name of the model.
 */
model?: string | null,
/**
 * Prompt for the agent.
 */
prompt?: string | null,
/**
 * Reasoning effort of the model.
 */
reasoningEffort?: string | null, };
