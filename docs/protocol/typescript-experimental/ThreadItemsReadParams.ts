// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/items/read`.
 */
export type ThreadItemsReadParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * The items.
 */
itemIds: Array<string>, };
