// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Why an image was not generated.
 */
export type ImageGenerationFailure = { "type": "usageLimitExceeded",
/**
 * The id of the limit.
 */
limitId: string,
/**
 * Time of the next reset in Unix seconds.
 */
resetsAt?: number | null, };
