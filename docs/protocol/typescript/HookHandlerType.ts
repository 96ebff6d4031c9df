// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What a hook runs.
 */
export type HookHandlerType = "command" | "mcpTool" | "prompt" | "agent";
