// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How the model summarizes its reasoning.
 */
export type ReasoningSummary = "auto" | "concise" | "detailed" | "none";
