// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Usage of a spending limit.
 */
export type SpendControlLimitSnapshot = {
/**
 * The limit, as a decimal number.
 */
limit: string,
/**
 * Remaining share of the limit, in percent.
 */
remainingPercent: number,
/**
 * Time of the next reset in Unix seconds.
 */
resetsAt: number,
/**
 * Amount used, as a decimal number.
 */
used: string, };
