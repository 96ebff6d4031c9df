// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TextPosition } from "./TextPosition";

/**
 * A range in a text file.
 */
export type TextRange = {
/**
 * End of the range.
 */
end: TextPosition,
/**
 * Start of the range.
 */
start: TextPosition, };
