// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FuzzyFileSearchResult } from "./FuzzyFileSearchResult";

/**
 * Params of the notification `fuzzyFileSearch/sessionUpdated`.
 */
export type FuzzyFileSearchSessionUpdatedNotification = {
/**
 * What was found, the best first.
 */
files: Array<FuzzyFileSearchResult>,
/**
 * What is searched for.
 */
query: string,
/**
 * The search session.
 */
sessionId: string, };
