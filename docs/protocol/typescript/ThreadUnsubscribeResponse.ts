// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadUnsubscribeStatus } from "./ThreadUnsubscribeStatus";

/**
 * Result of `thread/unsubscribe`.
 */
export type ThreadUnsubscribeResponse = {
/**
 * The status.
 */
status: ThreadUnsubscribeStatus, };
