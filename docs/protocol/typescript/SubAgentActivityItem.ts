// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SubAgentActivityKind } from "./SubAgentActivityKind";

/**
 * Something that happened to an agent which this thread started.
 */
export type SubAgentActivityItem = {
/**
 * The id.
 */
id: string,
/**
 * The path of the agent in the tree of agents.
 */
agentPath: string,
/**
 * The thread of the agent.
 */
agentThreadId: string,
/**
 * What happened.
 */
kind: SubAgentActivityKind,
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
 * How hard the model thinks.
 */
reasoningEffort?: string | null, };
