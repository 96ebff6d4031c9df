// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `command/exec/write`.
 */
export type CommandExecWriteParams = {
/**
 * The name that the connection gave to the command.
 */
processId: string,
/**
 * Whether that was the last of the input.
 */
closeStdin?: boolean | null,
/**
 * What is new, as bytes in base64.
 */
deltaBase64?: string | null, };
