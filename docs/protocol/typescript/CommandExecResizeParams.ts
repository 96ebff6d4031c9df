// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CommandExecTerminalSize } from "./CommandExecTerminalSize";

/**
 * Params of `command/exec/resize`.
 */
export type CommandExecResizeParams = {
/**
 * Id of the command, chosen by the connection.
 */
processId: string,
/**
 * The size of the terminal.
 */
size: CommandExecTerminalSize, };
