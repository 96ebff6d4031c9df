// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadStatus } from "./ThreadStatus";

/**
 * Params of the notification `thread/status/changed`.
 */
export type ThreadStatusChangedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * How far it is, or what became of it.
 */
status: ThreadStatus, };
