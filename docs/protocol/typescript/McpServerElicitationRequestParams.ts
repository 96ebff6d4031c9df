// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Params of the request to the client `mcpServer/elicitation/request`.
 */
export type McpServerElicitationRequestParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The tool server.
 */
serverName: string,
/**
 * The turn.
 */
turnId?: string | null, } & ({ "mode": "openai/userVerification",
/**
 * What is to be signed.
 */
challenge: string,
/**
 * What it is, for people.
 */
description: string,
/**
 * The title.
 */
title: string,
/**
 * What the tool server adds for its own use.
 */
_meta?: JsonValue | null, } | { "mode": "form",
/**
 * What there is to say.
 */
message: string,
/**
 * The schema of the form.
 */
requestedSchema: JsonValue,
/**
 * What the tool server adds for its own use.
 */
_meta?: JsonValue | null, } | { "mode": "openai/form",
/**
 * What there is to say.
 */
message: string,
/**
 * The schema of the form.
 */
requestedSchema: JsonValue,
/**
 * What the tool server adds for its own use.
 */
_meta?: JsonValue | null, } | { "mode": "openaiForm",
/**
 * What there is to say.
 */
message: string,
/**
 * The schema of the form.
 */
requestedSchema: JsonValue,
/**
 * What the tool server adds for its own use.
 */
_meta?: JsonValue | null, } | { "mode": "url",
/**
 * The server's id of the request.
 */
elicitationId: string,
/**
 * What there is to say.
 */
message: string,
/**
 * The address.
 */
url: string,
/**
 * What the tool server adds for its own use.
 */
_meta?: JsonValue | null, });
