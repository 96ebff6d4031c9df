// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FuzzyFileSearchResult } from "./FuzzyFileSearchResult";

/**
 * Result of `fuzzyFileSearch`.
 */
export type FuzzyFileSearchResponse = {
/**
 * The results, best first.
 */
files: Array<FuzzyFileSearchResult>, };
