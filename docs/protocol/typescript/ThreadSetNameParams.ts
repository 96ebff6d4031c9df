// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/name/set`.
 */
export type ThreadSetNameParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The new name.
 */
name: string, };
