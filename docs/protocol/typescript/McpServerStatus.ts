// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";
import type { McpAuthStatus } from "./McpAuthStatus";
import type { McpServerConnectionStatus } from "./McpServerConnectionStatus";
import type { McpServerInfo } from "./McpServerInfo";
import type { Resource } from "./Resource";
import type { ResourceTemplate } from "./ResourceTemplate";
import type { Tool } from "./Tool";

/**
 * An MCP server and what it offers.
 */
export type McpServerStatus = {
/**
 * Authentication status of the user.
 */
authStatus: McpAuthStatus,
/**
 * Name of the server.
 */
name: string,
/**
 * Templates of resources.
 */
resourceTemplates: Array<ResourceTemplate>,
/**
 * Resources.
 */
resources: Array<Resource>,
/**
 * The tools by name.
 */
tools: { [key in string]: Tool },
/**
 * Origin of the server's URL.
 */
httpOrigin?: string | null,
/**
 * Id of the plugin that it belongs to.
 */
pluginId?: string | null,
/**
 * Status of the connection.
 */
runtimeStatus?: McpServerConnectionStatus | null,
/**
 * Capabilities of the server.
 */
serverCapabilities?: JsonValue | null,
/**
 * Description that the server gives of itself.
 */
serverInfo?: McpServerInfo | null,
/**
 * Metadata of the server's list of tools.
 */
toolListMeta?: JsonValue | null,
/**
 * Error of listing the tools.
 */
toolsError?: string | null, };
