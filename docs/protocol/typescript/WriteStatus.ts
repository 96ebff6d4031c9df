// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Whether a written setting is effective.
 */
export type WriteStatus = "ok" | "okOverridden";
