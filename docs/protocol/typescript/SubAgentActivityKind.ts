// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What happened to an agent.
 */
export type SubAgentActivityKind = "started" | "interacted" | "interrupted" | "completed";
