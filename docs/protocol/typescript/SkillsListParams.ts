// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `skills/list`.
 */
export type SkillsListParams = {
/**
 * Working directories. If empty, the working directory of the server.
 */
cwds?: Array<string> | null,
/**
 * Whether files are read again instead of using a cache.
 */
forceReload?: boolean | null, };
