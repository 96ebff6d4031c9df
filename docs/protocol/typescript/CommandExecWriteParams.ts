// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `command/exec/write`.
 */
export type CommandExecWriteParams = {
/**
 * Id of the command, chosen by the connection.
 */
processId: string,
/**
 * Whether standard input is closed after this input.
 */
closeStdin?: boolean | null,
/**
 * New bytes in base64.
 */
deltaBase64?: string | null, };
