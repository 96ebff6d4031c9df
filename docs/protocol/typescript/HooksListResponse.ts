// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { HooksListEntry } from "./HooksListEntry";

/**
 * Result of `hooks/list`.
 */
export type HooksListResponse = {
/**
 * The requested entries.
 */
data: Array<HooksListEntry>, };
