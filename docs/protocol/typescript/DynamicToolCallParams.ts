// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Params of the request to the client `item/tool/call`.
 */
export type DynamicToolCallParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * The arguments, as the model gave them.
 */
arguments: JsonValue,
/**
 * The id of the model's call.
 */
callId: string,
/**
 * The tool.
 */
tool: string,
/**
 * The namespace of the tool.
 */
namespace?: string | null, };
