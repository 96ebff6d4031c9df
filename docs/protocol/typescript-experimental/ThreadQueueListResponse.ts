// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { QueuedSubmission } from "./QueuedSubmission";

/**
 * Result of `thread/queue/list`.
 */
export type ThreadQueueListResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<QueuedSubmission>,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
