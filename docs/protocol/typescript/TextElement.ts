// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ByteRange } from "./ByteRange";

/**
 * A part of a text that a client displays in its own way.
 */
export type TextElement = {
/**
 * The part of the text.
 */
byteRange: ByteRange,
/**
 * The text that is displayed instead.
 */
placeholder?: string | null, };
