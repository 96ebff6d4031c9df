// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Thread } from "./Thread";

/**
 * Params of the notification `thread/started`.
 */
export type ThreadStartedNotification = {
/**
 * The thread.
 */
thread: Thread, };
