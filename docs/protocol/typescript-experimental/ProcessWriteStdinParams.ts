// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `process/writeStdin`.
 */
export type ProcessWriteStdinParams = {
/**
 * The connection's own name for the process.
 */
processHandle: string,
/**
 * Whether that was the last of the input.
 */
closeStdin?: boolean | null,
/**
 * What is new, as bytes in base64.
 */
deltaBase64?: string | null, };
