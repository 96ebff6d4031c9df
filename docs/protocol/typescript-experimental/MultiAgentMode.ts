// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * When the model starts agents by itself.
 */
export type MultiAgentMode = "explicitRequestOnly" | "proactive" | { "custom": string };
