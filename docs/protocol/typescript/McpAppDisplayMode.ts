// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How the surface of a tool's application is shown.
 */
export type McpAppDisplayMode = "inline" | "fullscreen";
