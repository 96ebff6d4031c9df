// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { QueuedSubmission } from "./QueuedSubmission";

/**
 * Result of `thread/queue/update`.
 */
export type ThreadQueueUpdateResponse = {
/**
 * The queued prompt.
 */
queuedSubmission: QueuedSubmission, };
