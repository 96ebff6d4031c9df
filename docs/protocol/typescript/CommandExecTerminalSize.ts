// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The size of a terminal, in characters.
 */
export type CommandExecTerminalSize = {
/**
 * Number of columns.
 */
cols: number,
/**
 * Number of rows.
 */
rows: number, };
