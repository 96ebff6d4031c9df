// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of a run of a hook.
 */
export type HookRunStatus = "running" | "completed" | "failed" | "blocked" | "stopped";
