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
 * Id of the process, chosen by the connection.
 */
processHandle: string,
/**
 * Changes of the environment: a string sets a variable, `null` removes it.
 */
env?: { [key in string]: string | null } | null,
/**
 * Most bytes of each stream that are kept. `null` for no limit. If absent, a default of the server.
 */
outputBytesCap?: number | null,
/**
 * The size of the terminal.
 */
size?: ProcessTerminalSize | null,
/**
 * Whether the connection may write input later.
 */
streamStdin?: boolean | null,
/**
 * Whether output is sent in notifications while the process runs. The result then contains none.
 */
streamStdoutStderr?: boolean | null,
/**
 * Timeout in milliseconds. `null` for none. If absent, a default of the server.
 */
timeoutMs?: number | null,
/**
 * Whether it runs in a pseudoterminal.
 */
tty?: boolean | null, };
