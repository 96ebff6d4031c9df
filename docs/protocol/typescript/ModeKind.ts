// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Name of a collaboration mode.
 */
export type ModeKind = "plan" | "default";
