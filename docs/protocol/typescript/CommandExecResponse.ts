// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `command/exec`.
 */
export type CommandExecResponse = {
/**
 * The exit code.
 */
exitCode: number,
/**
 * What came on standard error.
 */
stderr: string,
/**
 * What came on standard output.
 */
stdout: string, };
