// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Turn } from "./Turn";

/**
 * Result of `review/start`.
 */
export type ReviewStartResponse = {
/**
 * Id of the thread in which the review takes place.
 */
reviewThreadId: string,
/**
 * The turn.
 */
turn: Turn, };
