// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A place in a text file.
 */
export type TextPosition = {
/**
 * The column, from 1.
 */
column: number,
/**
 * The line, from 1.
 */
line: number, };
