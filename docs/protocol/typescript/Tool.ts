// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * A tool of an MCP server.
 */
export type Tool = {
/**
 * JSON schema of the arguments.
 */
inputSchema: JsonValue,
/**
 * Name of the tool.
 */
name: string,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null,
/**
 * Annotations of the MCP server.
 */
annotations?: JsonValue | null,
/**
 * Description for the model.
 */
description?: string | null,
/**
 * Icons.
 */
icons?: Array<JsonValue> | null,
/**
 * JSON schema of the result.
 */
outputSchema?: JsonValue | null,
/**
 * Display name.
 */
title?: string | null, };
