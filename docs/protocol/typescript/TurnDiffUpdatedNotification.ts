// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `turn/diff/updated`.
 */
export type TurnDiffUpdatedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * All that the turn changed so far, as a unified diff.
 */
diff: string, };
