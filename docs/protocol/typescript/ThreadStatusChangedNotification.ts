// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadStatus } from "./ThreadStatus";

/**
 * Params of the notification `thread/status/changed`.
 */
export type ThreadStatusChangedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The status.
 */
status: ThreadStatus, };
