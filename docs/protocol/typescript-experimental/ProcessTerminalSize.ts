// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The size of a terminal, in characters.
 */
export type ProcessTerminalSize = {
/**
 * How many columns.
 */
cols: number,
/**
 * How many rows.
 */
rows: number, };
