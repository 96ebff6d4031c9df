// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the request to the client `attestation/generate`.
 */
export type AttestationGenerateParams = Record<symbol, never>;
