// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { DynamicToolCallOutputContentItem } from "./DynamicToolCallOutputContentItem";

/**
 * Answer to `item/tool/call`.
 */
export type DynamicToolCallResponse = {
/**
 * The parts of the answer.
 */
contentItems: Array<DynamicToolCallOutputContentItem>,
/**
 * Whether the tool did what it should.
 */
success: boolean, };
