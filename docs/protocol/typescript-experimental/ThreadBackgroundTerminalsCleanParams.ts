// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/backgroundTerminals/clean`.
 */
export type ThreadBackgroundTerminalsCleanParams = {
/**
 * Id of the thread.
 */
threadId: string, };
