// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Version of the collaboration tools that a model knows.
 */
export type MultiAgentVersion = "disabled" | "v1" | "v2";
