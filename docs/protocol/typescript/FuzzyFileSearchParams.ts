// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `fuzzyFileSearch`.
 */
export type FuzzyFileSearchParams = {
/**
 * What is searched for.
 */
query: string,
/**
 * The directories to search in.
 */
roots: Array<string>,
/**
 * A name of the search; a new one by the same name ends the old one.
 */
cancellationToken?: string | null, };
