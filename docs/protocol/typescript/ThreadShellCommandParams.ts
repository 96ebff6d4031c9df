// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/shellCommand`.
 */
export type ThreadShellCommandParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The command as a shell command line.
 */
command: string,
/**
 * Timeout in milliseconds.
 */
timeoutMs?: number | null, };
