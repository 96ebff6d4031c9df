// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ProcessTerminalSize } from "./ProcessTerminalSize";

/**
 * Params of `process/resizePty`.
 */
export type ProcessResizePtyParams = {
/**
 * Id of the process, chosen by the connection.
 */
processHandle: string,
/**
 * The size of the terminal.
 */
size: ProcessTerminalSize, };
