// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ProcessTerminalSize } from "./ProcessTerminalSize";

/**
 * Params of `process/spawn`.
 */
export type ProcessSpawnParams = {
/**
 * The program and its arguments.
 */
command: Array<string>,
/**
 * The working directory.
 */
cwd: AbsolutePath,
/**
 * The connection's own name for the process.
 */
processHandle: string,
/**
 * Changes of the environment: a text sets a variable, `null` removes it.
 */
env?: { [key in string]: string | null } | null,
/**
 * The most bytes of each stream that are kept.
 */
outputBytesCap?: number | null,
/**
 * The size of the terminal.
 */
size?: ProcessTerminalSize | null,
/**
 * Whether input is written to it later.
 */
streamStdin?: boolean | null,
/**
 * Whether output is sent as it comes; it is not in the result then.
 */
streamStdoutStderr?: boolean | null,
/**
 * How long it may run, in milliseconds.
 */
timeoutMs?: number | null,
/**
 * Whether it runs on a terminal.
 */
tty?: boolean | null, };
