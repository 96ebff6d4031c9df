// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `permissionProfile/list`.
 */
export type PermissionProfileListParams = {
/**
 * Where to go on: the cursor that a page before gave.
 */
cursor?: string | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * The most that a page holds.
 */
limit?: number | null, };
