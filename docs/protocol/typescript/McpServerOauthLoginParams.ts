// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { McpServerOauthClientRegistration } from "./McpServerOauthClientRegistration";

/**
 * Params of `mcpServer/oauth/login`.
 */
export type McpServerOauthLoginParams = {
/**
 * Name of the MCP server.
 */
name: string,
/**
 * Id of the thread, which is repeated in the notification of the end.
 */
threadId?: string | null,
/**
 * The scopes. If absent, those of the configuration or of the MCP server.
 */
scopes?: Array<string> | null,
/**
 * Time limit of the login in seconds.
 */
timeoutSecs?: number,
/**
 * How the server becomes known to the authorization server.
 */
clientRegistration?: McpServerOauthClientRegistration | null,
/**
 * Whether the user types a code on another device, instead of a browser that returns to the machine of the server. An
 * addition of this server.
 */
device?: boolean | null, };
