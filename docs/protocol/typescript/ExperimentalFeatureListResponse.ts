// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ExperimentalFeature } from "./ExperimentalFeature";

/**
 * Result of `experimentalFeature/list`.
 */
export type ExperimentalFeatureListResponse = {
/**
 * The requested entries.
 */
data: Array<ExperimentalFeature>,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
