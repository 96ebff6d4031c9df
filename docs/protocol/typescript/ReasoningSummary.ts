// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How the model sums up what it thought.
 */
export type ReasoningSummary = "auto" | "concise" | "detailed" | "none";
