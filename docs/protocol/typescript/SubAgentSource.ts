// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What started a thread that no client started.
 */
export type SubAgentSource = "review" | "compact" | "memory_consolidation" | { "thread_spawn": {
/**
 * Depth of the agent in the tree. Children of the root agent have depth 1.
 */
depth: number,
/**
 * Id of the parent's thread.
 */
parent_thread_id: string,
/**
 * Nickname of the agent.
 */
agent_nickname?: string | null,
/**
 * Path of the agent in the tree.
 */
agent_path?: string | null,
/**
 * The role of the agent.
 */
agent_role?: string | null, } } | { "other": string };
