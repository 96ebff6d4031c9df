// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ExperimentalFeature } from "./ExperimentalFeature";

/**
 * Result of `experimentalFeature/list`.
 */
export type ExperimentalFeatureListResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<ExperimentalFeature>,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
