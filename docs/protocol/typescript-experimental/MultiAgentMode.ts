// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * When the model may spawn agents.
 */
export type MultiAgentMode = "explicitRequestOnly" | "proactive" | { "custom": string };
