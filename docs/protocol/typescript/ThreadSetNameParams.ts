// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/name/set`.
 */
export type ThreadSetNameParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The name.
 */
name: string, };
