// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Turn } from "./Turn";

/**
 * Result of `review/start`.
 */
export type ReviewStartResponse = {
/**
 * The thread that the review takes place in.
 */
reviewThreadId: string,
/**
 * The turn.
 */
turn: Turn, };
