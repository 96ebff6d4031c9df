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
 * Whether the limit of output is disabled.
 */
disableOutputCap?: boolean | null,
/**
 * Whether the timeout is disabled.
 */
disableTimeout?: boolean | null,
/**
 * Changes of the environment: a string sets a variable, `null` removes it.
 */
env?: { [key in string]: string | null } | null,
/**
 * Most bytes of each stream that are kept. Without it, a default of the server.
 */
outputBytesCap?: number | null,
/**
 * Id of the permission profile for the command.
 */
permissionProfile?: string | null,
/**
 * Id of the command, chosen by the connection, which is needed to write to the command or to terminate it.
 */
processId?: string | null,
/**
 * Sandbox policy for the command.
 */
sandboxPolicy?: SandboxPolicy | null,
/**
 * The size of the terminal.
 */
size?: CommandExecTerminalSize | null,
/**
 * Whether the connection may write input later.
 */
streamStdin?: boolean | null,
/**
 * Whether output is sent in notifications while the process runs. The result then contains none.
 */
streamStdoutStderr?: boolean | null,
/**
 * Timeout in milliseconds. Without it, a default of the server.
 */
timeoutMs?: number | null,
/**
 * Whether it runs in a pseudoterminal.
 */
tty?: boolean | null, };
