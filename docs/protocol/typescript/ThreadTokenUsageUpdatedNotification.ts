// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadTokenUsage } from "./ThreadTokenUsage";

/**
 * Params of the notification `thread/tokenUsage/updated`.
 */
export type ThreadTokenUsageUpdatedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * The token usage.
 */
tokenUsage: ThreadTokenUsage, };
