// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How the read state of a thread changes.
 */
export type ThreadReadStateOperation = { "type": "read" } | { "type": "unread" };
