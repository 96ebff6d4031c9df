// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Params of `thread/inject_items`.
 */
export type ThreadInjectItemsParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The items, as the model has them.
 */
items: Array<JsonValue>, };
