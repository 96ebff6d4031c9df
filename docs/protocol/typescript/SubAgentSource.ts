// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What started a thread that no client started.
 */
export type SubAgentSource = "review" | "compact" | "memory_consolidation" | { "thread_spawn": {
/**
 * How many agents are between it and the first thread, with itself.
 */
depth: number,
/**
 * The thread that started it.
 */
parent_thread_id: string,
/**
 * The name that the agent goes by.
 */
agent_nickname?: string | null,
/**
 * The path of the agent in the tree of agents.
 */
agent_path?: string | null,
/**
 * The role of the agent.
 */
agent_role?: string | null, } } | { "other": string };
