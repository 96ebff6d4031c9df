// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Whether there is a connection to a tool server.
 */
export type McpServerConnectionStatus = "notStarted" | "starting" | "connected" | "authenticationRequired" | "failed" | "cancelled" | "disabled";
