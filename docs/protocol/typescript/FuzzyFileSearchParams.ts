// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `fuzzyFileSearch`.
 */
export type FuzzyFileSearchParams = {
/**
 * The searched text.
 */
query: string,
/**
 * Directories to search.
 */
roots: Array<string>,
/**
 * Name of the search. A new search with the same name cancels the old one.
 */
cancellationToken?: string | null, };
