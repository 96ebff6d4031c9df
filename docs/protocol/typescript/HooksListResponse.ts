// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { HooksListEntry } from "./HooksListEntry";

/**
 * Result of `hooks/list`.
 */
export type HooksListResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<HooksListEntry>, };
