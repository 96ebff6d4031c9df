// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `permissionProfile/list`.
 */
export type PermissionProfileListParams = {
/**
 * Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
 */
cursor?: string | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * Most entries of a page.
 */
limit?: number | null, };
