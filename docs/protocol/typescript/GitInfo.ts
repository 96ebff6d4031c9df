// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * State of the Git repository that a thread works in.
 */
export type GitInfo = {
/**
 * Name of the branch.
 */
branch?: string | null,
/**
 * URL of the repository's origin.
 */
originUrl?: string | null,
/**
 * Hash of the commit.
 */
sha?: string | null, };
