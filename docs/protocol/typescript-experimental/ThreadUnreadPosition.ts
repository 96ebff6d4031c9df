// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The first unread position in a thread.
 */
export type ThreadUnreadPosition = { "type": "threadStart" } | { "type": "turn",
/**
 * Id of the turn.
 */
turnId: string, };
