// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SubAgentActivityKind } from "./SubAgentActivityKind";

/**
 * An activity of a child agent of this thread.
 */
export type SubAgentActivityItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * Path of the agent in the tree.
 */
agentPath: string,
/**
 * Id of the agent's thread.
 */
agentThreadId: string,
/**
 * What happened.
 */
kind: SubAgentActivityKind,
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
 * Reasoning effort of the model.
 */
reasoningEffort?: string | null, };
