// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An item at which a page starts.
 */
export type ThreadItemsListAnchor = { "type": "item",
/**
 * Id of the item.
 */
itemId: string, };
