// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An item that a page begins at.
 */
export type ThreadItemsListAnchor = { "type": "item",
/**
 * The item.
 */
itemId: string, };
