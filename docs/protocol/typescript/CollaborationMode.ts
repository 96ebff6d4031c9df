// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ModeKind } from "./ModeKind";
import type { Settings } from "./Settings";

/**
 * A mode of working together with the user, and what it sets.
 */
export type CollaborationMode = {
/**
 * The mode.
 */
mode: ModeKind,
/**
 * What it sets.
 */
settings: Settings, };
