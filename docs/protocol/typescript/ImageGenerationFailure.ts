// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Why a picture was not made.
 */
export type ImageGenerationFailure = { "type": "usageLimitExceeded",
/**
 * The id of the limit.
 */
limitId: string,
/**
 * When it begins anew, in Unix seconds.
 */
resetsAt?: number | null, };
