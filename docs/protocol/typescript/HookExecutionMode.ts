// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Whether the server waits for a hook.
 */
export type HookExecutionMode = "sync" | "async";
