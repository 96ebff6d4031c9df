// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How much of a limit on spending is used.
 */
export type SpendControlLimitSnapshot = {
/**
 * The limit, as a decimal number.
 */
limit: string,
/**
 * What is left, in percent.
 */
remainingPercent: number,
/**
 * When it begins anew, in Unix seconds.
 */
resetsAt: number,
/**
 * What was used, as a decimal number.
 */
used: string, };
