// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ResourceContent } from "./ResourceContent";

/**
 * Result of `mcpServer/resource/read`.
 */
export type McpResourceReadResponse = {
/**
 * The contents.
 */
contents: Array<ResourceContent>,
/**
 * Always `null`.
 */
originCallId?: string | null, };
