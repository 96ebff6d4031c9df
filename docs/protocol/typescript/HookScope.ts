// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What a run of a hook belongs to.
 */
export type HookScope = "thread" | "turn";
