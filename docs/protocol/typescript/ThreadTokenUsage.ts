// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TokenUsageBreakdown } from "./TokenUsageBreakdown";

/**
 * The tokens that a thread used.
 */
export type ThreadTokenUsage = {
/**
 * What the last request used.
 */
last: TokenUsageBreakdown,
/**
 * What all requests used.
 */
total: TokenUsageBreakdown,
/**
 * How many tokens the model takes; `null` where nobody knows.
 */
modelContextWindow?: number | null, };
