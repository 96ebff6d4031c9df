// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { HookRunSummary } from "./HookRunSummary";

/**
 * Params of the notification `hook/completed`.
 */
export type HookCompletedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The run.
 */
run: HookRunSummary,
/**
 * The turn.
 */
turnId?: string | null, };
