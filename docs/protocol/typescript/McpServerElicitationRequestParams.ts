// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Params of the request to the client `mcpServer/elicitation/request`.
 */
export type McpServerElicitationRequestParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Name of the MCP server.
 */
serverName: string,
/**
 * Id of the turn.
 */
turnId?: string | null, } & ({ "mode": "openai/userVerification",
/**
 * The challenge to sign.
 */
challenge: string,
/**
 * Description for people.
 */
description: string,
/**
 * The title.
 */
title: string,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null, } | { "mode": "form",
/**
 * The message for people.
 */
message: string,
/**
 * JSON schema of the form.
 */
requestedSchema: JsonValue,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null, } | { "mode": "openai/form",
/**
 * The message for people.
 */
message: string,
/**
 * JSON schema of the form.
 */
requestedSchema: JsonValue,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null, } | { "mode": "openaiForm",
/**
 * The message for people.
 */
message: string,
/**
 * JSON schema of the form.
 */
requestedSchema: JsonValue,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null, } | { "mode": "url",
/**
 * Id that the MCP server gave to the request.
 */
elicitationId: string,
/**
 * The message for people.
 */
message: string,
/**
 * The URL.
 */
url: string,
/**
 * Metadata of the MCP server.
 */
_meta?: JsonValue | null, });
