// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Credits of an account.
 */
export type CreditsSnapshot = {
/**
 * Whether there are any credits.
 */
hasCredits: boolean,
/**
 * Whether the credits are unlimited.
 */
unlimited: boolean,
/**
 * Remaining credits, as a decimal number.
 */
balance?: string | null, };
