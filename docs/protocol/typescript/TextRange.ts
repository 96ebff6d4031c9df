// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TextPosition } from "./TextPosition";

/**
 * A range in a text file.
 */
export type TextRange = {
/**
 * Where it ends.
 */
end: TextPosition,
/**
 * Where it begins.
 */
start: TextPosition, };
