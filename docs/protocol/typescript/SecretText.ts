// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A secret in a message. Its `Debug` output does not contain it.
 */
export type SecretText = string;
