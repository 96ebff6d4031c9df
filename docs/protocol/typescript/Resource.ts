// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * A resource of an MCP server.
 */
export type Resource = {
/**
 * Name of the resource.
 */
name: string,
/**
 * URI of the resource.
 */
uri: string,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null,
/**
 * Annotations of the MCP server.
 */
annotations?: JsonValue | null,
/**
 * Description for people.
 */
description?: string | null,
/**
 * Icons.
 */
icons?: Array<JsonValue> | null,
/**
 * Its MIME type.
 */
mimeType?: string | null,
/**
 * Size in bytes.
 */
size?: number | null,
/**
 * The title.
 */
title?: string | null, };
