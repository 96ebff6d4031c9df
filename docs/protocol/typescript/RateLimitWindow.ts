// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A span of time with a limit.
 */
export type RateLimitWindow = {
/**
 * What was used, in percent.
 */
usedPercent: number,
/**
 * When it begins anew, in Unix seconds.
 */
resetsAt?: number | null,
/**
 * How long the span is, in minutes.
 */
windowDurationMins?: number | null, };
