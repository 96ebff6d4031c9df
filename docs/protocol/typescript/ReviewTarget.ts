// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What is reviewed.
 */
export type ReviewTarget = { "type": "uncommittedChanges" } | { "type": "baseBranch",
/**
 * The branch to compare with.
 */
branch: string, } | { "type": "commit",
/**
 * Hash of the commit.
 */
sha: string,
/**
 * The title.
 */
title?: string | null, } | { "type": "custom",
/**
 * Instructions for the reviewer.
 */
instructions: string, };
