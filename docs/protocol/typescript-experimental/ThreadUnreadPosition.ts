// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The first thing in a thread that was not read.
 */
export type ThreadUnreadPosition = { "type": "threadStart" } | { "type": "turn",
/**
 * The turn.
 */
turnId: string, };
