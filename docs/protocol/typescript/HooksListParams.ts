// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `hooks/list`.
 */
export type HooksListParams = {
/**
 * Id of the thread.
 */
threadId?: string | null,
/**
 * Working directories. If empty, the working directory of the server.
 */
cwds?: Array<string> | null, };
