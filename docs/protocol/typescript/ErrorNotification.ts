// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TurnError } from "./TurnError";

/**
 * Params of the notification `error`.
 */
export type ErrorNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * What went wrong.
 */
error: TurnError,
/**
 * Whether the server tries again by itself.
 */
willRetry: boolean, };
