// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `thread/goal/cleared`.
 */
export type ThreadGoalClearedNotification = {
/**
 * Id of the thread.
 */
threadId: string, };
