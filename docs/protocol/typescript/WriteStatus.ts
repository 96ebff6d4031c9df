// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Whether a written setting counts.
 */
export type WriteStatus = "ok" | "okOverridden";
