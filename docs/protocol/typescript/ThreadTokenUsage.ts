// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TokenUsageBreakdown } from "./TokenUsageBreakdown";

/**
 * Token usage of a thread.
 */
export type ThreadTokenUsage = {
/**
 * Usage of the last inference call.
 */
last: TokenUsageBreakdown,
/**
 * Usage of all inference calls.
 */
total: TokenUsageBreakdown,
/**
 * Size of the model's context window in tokens. `null` if it is not known.
 */
modelContextWindow?: number | null, };
