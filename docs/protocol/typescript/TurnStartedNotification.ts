// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Turn } from "./Turn";

/**
 * Params of the notification `turn/started`.
 */
export type TurnStartedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The turn.
 */
turn: Turn, };
