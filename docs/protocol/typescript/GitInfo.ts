// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The state of the repository that a thread works in.
 */
export type GitInfo = {
/**
 * The branch.
 */
branch?: string | null,
/**
 * Where the repository comes from.
 */
originUrl?: string | null,
/**
 * The commit.
 */
sha?: string | null, };
