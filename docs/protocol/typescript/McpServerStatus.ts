// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";
import type { McpAuthStatus } from "./McpAuthStatus";
import type { McpServerConnectionStatus } from "./McpServerConnectionStatus";
import type { McpServerInfo } from "./McpServerInfo";
import type { Resource } from "./Resource";
import type { ResourceTemplate } from "./ResourceTemplate";
import type { Tool } from "./Tool";

/**
 * A tool server and what it offers.
 */
export type McpServerStatus = {
/**
 * Whether the server knows the user.
 */
authStatus: McpAuthStatus,
/**
 * The name.
 */
name: string,
/**
 * Patterns of things to read.
 */
resourceTemplates: Array<ResourceTemplate>,
/**
 * Things to read.
 */
resources: Array<Resource>,
/**
 * The tools.
 */
tools: { [key in string]: Tool },
/**
 * The origin of the server's address.
 */
httpOrigin?: string | null,
/**
 * The plugin that it comes with.
 */
pluginId?: string | null,
/**
 * Whether there is a connection.
 */
runtimeStatus?: McpServerConnectionStatus | null,
/**
 * What the server says it can do.
 */
serverCapabilities?: JsonValue | null,
/**
 * What the server says of itself.
 */
serverInfo?: McpServerInfo | null,
/**
 * What the server adds to its list of tools.
 */
toolListMeta?: JsonValue | null,
/**
 * Why there are no tools.
 */
toolsError?: string | null, };
