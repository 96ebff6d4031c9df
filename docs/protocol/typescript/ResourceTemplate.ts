// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * A template of resources of an MCP server.
 */
export type ResourceTemplate = {
/**
 * Name of the template.
 */
name: string,
/**
 * The URI template.
 */
uriTemplate: string,
/**
 * Annotations of the MCP server.
 */
annotations?: JsonValue | null,
/**
 * Description for people.
 */
description?: string | null,
/**
 * Its MIME type.
 */
mimeType?: string | null,
/**
 * The title.
 */
title?: string | null, };
