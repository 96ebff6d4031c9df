// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What is left of an account's credits.
 */
export type CreditsSnapshot = {
/**
 * Whether there are any.
 */
hasCredits: boolean,
/**
 * Whether there is no end of them.
 */
unlimited: boolean,
/**
 * What is left, as a decimal number.
 */
balance?: string | null, };
