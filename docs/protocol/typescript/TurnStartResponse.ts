// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Turn } from "./Turn";

/**
 * Result of `turn/start`.
 */
export type TurnStartResponse = {
/**
 * The turn.
 */
turn: Turn, };
