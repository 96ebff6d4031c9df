// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Appearance of a skill.
 */
export type SkillInterface = {
/**
 * Its colour.
 */
brandColor?: string | null,
/**
 * A first prompt that uses the skill.
 */
defaultPrompt?: string | null,
/**
 * Display name.
 */
displayName?: string | null,
/**
 * File with a large icon.
 */
iconLarge?: AbsolutePath | null,
/**
 * URL of a large icon.
 */
iconLargeUrl?: string | null,
/**
 * File with a small icon.
 */
iconSmall?: AbsolutePath | null,
/**
 * URL of a small icon.
 */
iconSmallUrl?: string | null,
/**
 * Short description.
 */
shortDescription?: string | null, };
