// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CommandExecTerminalSize } from "./CommandExecTerminalSize";
import type { SandboxPolicy } from "./SandboxPolicy";

/**
 * Params of `command/exec`.
 */
export type CommandExecParams = {
/**
 * The program and its arguments.
 */
command: Array<string>,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * Whether output has no limit.
 */
disableOutputCap?: boolean | null,
/**
 * Whether it may run as long as it likes.
 */
disableTimeout?: boolean | null,
/**
 * Changes of the environment: a text sets a variable, `null` removes it.
 */
env?: { [key in string]: string | null } | null,
/**
 * The most bytes of each stream that are kept.
 */
outputBytesCap?: number | null,
/**
 * The permission profile that it runs under.
 */
permissionProfile?: string | null,
/**
 * A name of the connection's own, to write to the command or end it.
 */
processId?: string | null,
/**
 * What commands may touch.
 */
sandboxPolicy?: SandboxPolicy | null,
/**
 * The size of the terminal.
 */
size?: CommandExecTerminalSize | null,
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
