// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ByteRange } from "./ByteRange";

/**
 * A part of a text that a client shows in its own way.
 */
export type TextElement = {
/**
 * Which part of the text.
 */
byteRange: ByteRange,
/**
 * What is shown instead.
 */
placeholder?: string | null, };
