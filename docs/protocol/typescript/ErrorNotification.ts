// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TurnError } from "./TurnError";

/**
 * Params of the notification `error`.
 */
export type ErrorNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * The error.
 */
error: TurnError,
/**
 * Whether the server retries automatically.
 */
willRetry: boolean, };
