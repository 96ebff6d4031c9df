// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Params of `thread/inject_items`.
 */
export type ThreadInjectItemsParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The items in the form of the model provider's API.
 */
items: Array<JsonValue>, };
