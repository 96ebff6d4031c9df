// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ModeKind } from "./ModeKind";
import type { Settings } from "./Settings";

/**
 * A collaboration mode with its settings.
 */
export type CollaborationMode = {
/**
 * The mode.
 */
mode: ModeKind,
/**
 * Settings of the mode.
 */
settings: Settings, };
