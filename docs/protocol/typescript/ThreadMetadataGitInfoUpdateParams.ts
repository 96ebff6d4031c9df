// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Changes of what is known of a thread's repository: absent keeps, `null` clears.
 */
export type ThreadMetadataGitInfoUpdateParams = {
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
