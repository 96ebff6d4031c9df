// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Kinds of outputs of a hook.
 */
export type HookOutputEntryKind = "warning" | "stop" | "feedback" | "context" | "error";
