// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * A content of a resource.
 */
export type ResourceContent = {
/**
 * The text.
 */
text: string,
/**
 * Address of the content.
 */
uri: string,
/**
 * Its MIME type.
 */
mimeType?: string | null,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null, } | {
/**
 * The bytes in base64.
 */
blob: string,
/**
 * Address of the content.
 */
uri: string,
/**
 * Its MIME type.
 */
mimeType?: string | null,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null, };
