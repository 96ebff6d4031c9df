// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `turn/diff/updated`.
 */
export type TurnDiffUpdatedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * All changes of the turn so far, as a unified diff.
 */
diff: string, };
