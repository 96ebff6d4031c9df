// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the request to the client `currentTime/read`.
 */
export type CurrentTimeReadParams = {
/**
 * Id of the thread.
 */
threadId: string, };
