// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Numbers of tokens by kind.
 */
export type TokenUsageBreakdown = {
/**
 * Input tokens that were in the provider's cache.
 */
cachedInputTokens: number,
/**
 * Input tokens, including cached ones.
 */
inputTokens: number,
/**
 * Output tokens, including reasoning.
 */
outputTokens: number,
/**
 * Reasoning tokens.
 */
reasoningOutputTokens: number,
/**
 * Sum of input and output tokens.
 */
totalTokens: number,
/**
 * Input tokens that were written to the provider's cache.
 */
cacheWriteInputTokens?: number | null, };
