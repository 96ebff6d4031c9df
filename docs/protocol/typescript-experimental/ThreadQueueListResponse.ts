// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { QueuedSubmission } from "./QueuedSubmission";

/**
 * Result of `thread/queue/list`.
 */
export type ThreadQueueListResponse = {
/**
 * The requested entries.
 */
data: Array<QueuedSubmission>,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
