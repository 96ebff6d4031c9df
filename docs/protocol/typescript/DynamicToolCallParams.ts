// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Params of the request to the client `item/tool/call`.
 */
export type DynamicToolCallParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * The arguments, as the model gave them.
 */
arguments: JsonValue,
/**
 * Id of the tool call that the model chose.
 */
callId: string,
/**
 * Name of the tool.
 */
tool: string,
/**
 * The namespace of the tool.
 */
namespace?: string | null, };
