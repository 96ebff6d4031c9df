// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Turn } from "./Turn";

/**
 * Result of `thread/queue/start`.
 */
export type ThreadQueueStartResponse = {
/**
 * The turn.
 */
turn: Turn, };
