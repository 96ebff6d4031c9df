// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Response to `attestation/generate`.
 */
export type AttestationGenerateResponse = {
/**
 * The attestation.
 */
token: string, };
