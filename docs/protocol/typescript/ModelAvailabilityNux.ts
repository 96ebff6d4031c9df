// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Message for users who see a model for the first time.
 */
export type ModelAvailabilityNux = {
/**
 * The message for people.
 */
message: string, };
