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
 * The connection's own name for the process.
 */
processHandle: string,
/**
 * What came on standard error.
 */
stderr: string,
/**
 * Whether there was more.
 */
stderrCapReached: boolean,
/**
 * What came on standard output.
 */
stdout: string,
/**
 * Whether there was more.
 */
stdoutCapReached: boolean,
/**
 * Whether the streams stayed open after the end, so that output may be missing.
 */
outputDrainTimedOut?: boolean | null, };
