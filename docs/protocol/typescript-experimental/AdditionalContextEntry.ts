// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AdditionalContextKind } from "./AdditionalContextKind";

/**
 * A text that a client adds to a turn besides the user's input.
 */
export type AdditionalContextEntry = {
/**
 * How far the text is trusted.
 */
kind: AdditionalContextKind,
/**
 * The text.
 */
value: string,
/**
 * Name of the entry.
 */
name?: string | null, };
