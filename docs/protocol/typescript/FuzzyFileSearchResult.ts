// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FuzzyFileSearchMatchType } from "./FuzzyFileSearchMatchType";

/**
 * One find of a search.
 */
export type FuzzyFileSearchResult = {
/**
 * The name, without the directory.
 */
file_name: string,
/**
 * What was found.
 */
match_type: FuzzyFileSearchMatchType,
/**
 * The path.
 */
path: string,
/**
 * The directory that was searched.
 */
root: string,
/**
 * How well it matches.
 */
score: number,
/**
 * The places of the characters that match.
 */
indices?: Array<number> | null, };
