// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FuzzyFileSearchMatchType } from "./FuzzyFileSearchMatchType";

/**
 * A result of a search.
 */
export type FuzzyFileSearchResult = {
/**
 * Name without the directory.
 */
file_name: string,
/**
 * Type of the result.
 */
match_type: FuzzyFileSearchMatchType,
/**
 * Path of the file or directory, relative to `root`.
 */
path: string,
/**
 * The searched directory that contains it.
 */
root: string,
/**
 * Score of the match. Higher is better.
 */
score: number,
/**
 * Indexes of the characters of the path that match.
 */
indices?: Array<number> | null, };
