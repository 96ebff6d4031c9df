// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadTokenUsage } from "./ThreadTokenUsage";

/**
 * Params of the notification `thread/tokenUsage/updated`.
 */
export type ThreadTokenUsageUpdatedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * The tokens.
 */
tokenUsage: ThreadTokenUsage, };
