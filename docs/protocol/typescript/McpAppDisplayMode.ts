// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How the user interface of a tool's application is displayed.
 */
export type McpAppDisplayMode = "inline" | "fullscreen";
