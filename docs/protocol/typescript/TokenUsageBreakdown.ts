// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Tokens by what they were used for.
 */
export type TokenUsageBreakdown = {
/**
 * Input that the provider had in its cache.
 */
cachedInputTokens: number,
/**
 * Input, with what was cached.
 */
inputTokens: number,
/**
 * Output, with what the model thought.
 */
outputTokens: number,
/**
 * What the model thought.
 */
reasoningOutputTokens: number,
/**
 * All of them.
 */
totalTokens: number,
/**
 * Input that the provider put into its cache.
 */
cacheWriteInputTokens?: number | null, };
