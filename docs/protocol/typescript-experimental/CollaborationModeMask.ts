// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ModeKind } from "./ModeKind";

/**
 * A collaboration mode with the settings that it changes.
 */
export type CollaborationModeMask = {
/**
 * Name of the mode.
 */
name: string,
/**
 * The mode.
 */
mode?: ModeKind | null,
/**
 * Name of the model.
 */
model?: string | null,
/**
 * Reasoning effort of the model.
 */
reasoning_effort?: string | null, };
