// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/read`.
 */
export type ThreadReadParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Whether the response contains the turns.
 */
includeTurns?: boolean | null, };
