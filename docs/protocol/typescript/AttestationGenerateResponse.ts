// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Answer to `attestation/generate`.
 */
export type AttestationGenerateResponse = {
/**
 * The proof.
 */
token: string, };
