// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FuzzyFileSearchResult } from "./FuzzyFileSearchResult";

/**
 * Params of the notification `fuzzyFileSearch/sessionUpdated`.
 */
export type FuzzyFileSearchSessionUpdatedNotification = {
/**
 * The results, best first.
 */
files: Array<FuzzyFileSearchResult>,
/**
 * The searched text.
 */
query: string,
/**
 * Id of the search session.
 */
sessionId: string, };
