// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Why a tool server did not start, where there is something to do about it.
 */
export type McpServerStartupFailureReason = "reauthenticationRequired";
