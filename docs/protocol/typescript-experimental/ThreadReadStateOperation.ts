// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What is to become of a thread's read state.
 */
export type ThreadReadStateOperation = { "type": "read" } | { "type": "unread" };
