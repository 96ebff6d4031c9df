// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { HookRunSummary } from "./HookRunSummary";

/**
 * Params of the notification `hook/completed`.
 */
export type HookCompletedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The run.
 */
run: HookRunSummary,
/**
 * Id of the turn.
 */
turnId?: string | null, };
