// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `hooks/list`.
 */
export type HooksListParams = {
/**
 * The thread.
 */
threadId?: string | null,
/**
 * The directories to look in; without any, that of the server.
 */
cwds?: Array<string> | null, };
