// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A position in a text file.
 */
export type TextPosition = {
/**
 * Column, counted from 1.
 */
column: number,
/**
 * Line, counted from 1.
 */
line: number, };
