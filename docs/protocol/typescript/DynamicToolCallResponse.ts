// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { DynamicToolCallOutputContentItem } from "./DynamicToolCallOutputContentItem";

/**
 * Response to `item/tool/call`.
 */
export type DynamicToolCallResponse = {
/**
 * The parts of the result.
 */
contentItems: Array<DynamicToolCallOutputContentItem>,
/**
 * Whether the tool succeeded.
 */
success: boolean, };
