// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `process/writeStdin`.
 */
export type ProcessWriteStdinParams = {
/**
 * Id of the process, chosen by the connection.
 */
processHandle: string,
/**
 * Whether standard input is closed after this input.
 */
closeStdin?: boolean | null,
/**
 * New bytes in base64.
 */
deltaBase64?: string | null, };
