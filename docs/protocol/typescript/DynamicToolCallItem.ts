// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { DynamicToolCallOutputContentItem } from "./DynamicToolCallOutputContentItem";
import type { DynamicToolCallStatus } from "./DynamicToolCallStatus";
import type { JsonValue } from "./JsonValue";

/**
 * A call of a tool that the client runs.
 */
export type DynamicToolCallItem = {
/**
 * The id.
 */
id: string,
/**
 * The arguments, as the model gave them.
 */
arguments: JsonValue,
/**
 * How far it is, or what became of it.
 */
status: DynamicToolCallStatus,
/**
 * The tool.
 */
tool: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * The parts of the answer.
 */
contentItems?: Array<DynamicToolCallOutputContentItem> | null,
/**
 * How long it took, in milliseconds.
 */
durationMs?: number | null,
/**
 * The namespace of the tool.
 */
namespace?: string | null,
/**
 * Whether the tool did what it should.
 */
success?: boolean | null, };
