// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/read`.
 */
export type ThreadReadParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * Whether the turns are wanted too.
 */
includeTurns?: boolean | null, };
