// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/backgroundTerminals/terminate`.
 */
export type ThreadBackgroundTerminalsTerminateParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The server's id of the process.
 */
processId: string, };
