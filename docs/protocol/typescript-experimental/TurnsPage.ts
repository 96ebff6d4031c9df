// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Turn } from "./Turn";

/**
 * Some turns of a thread.
 */
export type TurnsPage = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<Turn>,
/**
 * Where a list in the opposite direction begins, to get what is new since.
 */
backwardsCursor?: string | null,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
