// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * What a tool answered.
 */
export type McpToolCallResult = {
/**
 * The parts of the answer.
 */
content: Array<JsonValue>,
/**
 * What the tool server adds for its own use.
 */
_meta?: JsonValue | null,
/**
 * The answer as JSON.
 */
structuredContent?: JsonValue | null, };
