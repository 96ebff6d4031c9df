// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Personality of the model.
 */
export type Personality = "none" | "friendly" | "pragmatic";
