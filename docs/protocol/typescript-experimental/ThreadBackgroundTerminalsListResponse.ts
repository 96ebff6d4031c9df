// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadBackgroundTerminal } from "./ThreadBackgroundTerminal";

/**
 * Result of `thread/backgroundTerminals/list`.
 */
export type ThreadBackgroundTerminalsListResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<ThreadBackgroundTerminal>,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
