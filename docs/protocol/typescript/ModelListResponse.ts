// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Model } from "./Model";

/**
 * Result of `model/list`.
 */
export type ModelListResponse = {
/**
 * The requested entries.
 */
data: Array<Model>,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
