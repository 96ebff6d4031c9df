// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `skills/list`.
 */
export type SkillsListParams = {
/**
 * The directories to look in; without any, that of the server.
 */
cwds?: Array<string> | null,
/**
 * Whether files are read again.
 */
forceReload?: boolean | null, };
