// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `mcpServer/prompt/get`.
 */
export type McpServerPromptGetParams = {
/**
 * Id of a loaded thread that has the MCP server.
 */
threadId: string,
/**
 * Name of the MCP server.
 */
server: string,
/**
 * Name of the prompt.
 */
name: string,
/**
 * The arguments.
 */
arguments?: { [key in string]: string } | null, };
