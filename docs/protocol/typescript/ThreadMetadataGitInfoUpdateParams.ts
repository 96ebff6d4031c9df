// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Changes of the stored state of a thread's Git repository. An absent field is unchanged, `null` clears it.
 */
export type ThreadMetadataGitInfoUpdateParams = {
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
