// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How far a run of a hook is.
 */
export type HookRunStatus = "running" | "completed" | "failed" | "blocked" | "stopped";
