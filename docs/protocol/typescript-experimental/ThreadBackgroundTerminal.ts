// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A command that outlives its turn.
 */
export type ThreadBackgroundTerminal = {
/**
 * The item.
 */
itemId: string,
/**
 * The command, as a line for a shell.
 */
command: string,
/**
 * The working directory.
 */
cwd: string,
/**
 * The server's id of the process.
 */
processId: string,
/**
 * The share of a processor that it uses.
 */
cpuPercent?: number | null,
/**
 * The id of the process on the machine.
 */
osPid?: number | null,
/**
 * Its memory, in kilobytes.
 */
rssKb?: number | null, };
