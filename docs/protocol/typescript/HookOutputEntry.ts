// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { HookOutputEntryKind } from "./HookOutputEntryKind";

/**
 * Something that a hook had to say.
 */
export type HookOutputEntry = {
/**
 * What kind it is.
 */
kind: HookOutputEntryKind,
/**
 * The text.
 */
text: string, };
