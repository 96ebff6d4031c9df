// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * How a skill is shown.
 */
export type SkillInterface = {
/**
 * Its colour.
 */
brandColor?: string | null,
/**
 * A first prompt to use it with.
 */
defaultPrompt?: string | null,
/**
 * The name, for people.
 */
displayName?: string | null,
/**
 * A file with a large symbol.
 */
iconLarge?: AbsolutePath | null,
/**
 * The address of a large symbol.
 */
iconLargeUrl?: string | null,
/**
 * A file with a small symbol.
 */
iconSmall?: AbsolutePath | null,
/**
 * The address of a small symbol.
 */
iconSmallUrl?: string | null,
/**
 * What it is, in a few words.
 */
shortDescription?: string | null, };
