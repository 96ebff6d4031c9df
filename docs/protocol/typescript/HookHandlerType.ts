// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What kind of thing a hook runs.
 */
export type HookHandlerType = "command" | "mcpTool" | "prompt" | "agent";
