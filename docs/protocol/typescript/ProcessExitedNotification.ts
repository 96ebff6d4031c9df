// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `process/exited`.
 */
export type ProcessExitedNotification = {
/**
 * The exit code.
 */
exitCode: number,
/**
 * Id of the process, chosen by the connection.
 */
processHandle: string,
/**
 * Content of standard error.
 */
stderr: string,
/**
 * Whether output is missing because the limit of bytes was reached.
 */
stderrCapReached: boolean,
/**
 * Content of standard output.
 */
stdout: string,
/**
 * Whether output is missing because the limit of bytes was reached.
 */
stdoutCapReached: boolean,
/**
 * Whether the streams stayed open after the process ended, so that output may be missing.
 */
outputDrainTimedOut?: boolean | null, };
