// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { HookOutputEntryKind } from "./HookOutputEntryKind";

/**
 * An output of a hook.
 */
export type HookOutputEntry = {
/**
 * Kind of the output.
 */
kind: HookOutputEntryKind,
/**
 * The text.
 */
text: string, };
