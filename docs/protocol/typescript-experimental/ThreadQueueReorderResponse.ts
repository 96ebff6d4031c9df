// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/queue/reorder`.
 */
export type ThreadQueueReorderResponse = Record<symbol, never>;
