// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/delete`.
 */
export type ThreadDeleteParams = {
/**
 * Id of the thread.
 */
threadId: string, };
