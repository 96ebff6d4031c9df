// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A command that runs on after its turn.
 */
export type ThreadBackgroundTerminal = {
/**
 * Id of the item.
 */
itemId: string,
/**
 * The command as a shell command line.
 */
command: string,
/**
 * The working directory.
 */
cwd: string,
/**
 * Id that the server gave to the process.
 */
processId: string,
/**
 * Processor usage in percent.
 */
cpuPercent?: number | null,
/**
 * Id that the operating system gave to the process.
 */
osPid?: number | null,
/**
 * Memory in kilobytes.
 */
rssKb?: number | null, };
