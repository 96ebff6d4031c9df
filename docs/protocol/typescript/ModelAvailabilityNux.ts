// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What is told to somebody who sees a model for the first time.
 */
export type ModelAvailabilityNux = {
/**
 * What there is to say.
 */
message: string, };
