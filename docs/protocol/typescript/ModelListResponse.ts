// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Model } from "./Model";

/**
 * Result of `model/list`.
 */
export type ModelListResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<Model>,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
