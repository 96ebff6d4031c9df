// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What kind of thing a hook had to say.
 */
export type HookOutputEntryKind = "warning" | "stop" | "feedback" | "context" | "error";
