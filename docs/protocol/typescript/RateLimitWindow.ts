// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A time window with a limit.
 */
export type RateLimitWindow = {
/**
 * Used share of the limit, in percent.
 */
usedPercent: number,
/**
 * Time of the next reset in Unix seconds.
 */
resetsAt?: number | null,
/**
 * Length of the window in minutes.
 */
windowDurationMins?: number | null, };
