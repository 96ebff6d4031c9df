// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/items/read`.
 */
export type ThreadItemsReadParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * Ids of the items.
 */
itemIds: Array<string>, };
