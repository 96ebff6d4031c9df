// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The name of a collaboration mode.
 */
export type ModeKind = "plan" | "default";
