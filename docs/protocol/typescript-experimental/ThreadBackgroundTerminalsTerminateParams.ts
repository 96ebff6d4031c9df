// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/backgroundTerminals/terminate`.
 */
export type ThreadBackgroundTerminalsTerminateParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id that the server gave to the process.
 */
processId: string, };
