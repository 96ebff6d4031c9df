// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ModeKind } from "./ModeKind";

/**
 * A collaboration mode on offer: what it sets, where it sets anything.
 */
export type CollaborationModeMask = {
/**
 * The name.
 */
name: string,
/**
 * The mode.
 */
mode?: ModeKind | null,
/**
 * The model.
 */
model?: string | null,
/**
 * How hard the model thinks.
 */
reasoning_effort?: string | null, };
