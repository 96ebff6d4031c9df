// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { DynamicToolCallOutputContentItem } from "./DynamicToolCallOutputContentItem";
import type { DynamicToolCallStatus } from "./DynamicToolCallStatus";
import type { JsonValue } from "./JsonValue";

/**
 * A call of a tool that the client runs.
 */
export type DynamicToolCallItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * The arguments, as the model gave them.
 */
arguments: JsonValue,
/**
 * The status.
 */
status: DynamicToolCallStatus,
/**
 * Name of the tool.
 */
tool: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * The parts of the result.
 */
contentItems?: Array<DynamicToolCallOutputContentItem> | null,
/**
 * Duration in milliseconds.
 */
durationMs?: number | null,
/**
 * The namespace of the tool.
 */
namespace?: string | null,
/**
 * Whether the tool succeeded.
 */
success?: boolean | null, };
