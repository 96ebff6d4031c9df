// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { QueuedSubmission } from "./QueuedSubmission";

/**
 * Result of `thread/queue/add`.
 */
export type ThreadQueueAddResponse = {
/**
 * The queued prompt.
 */
queuedSubmission: QueuedSubmission, };
