// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadSectionAppearance } from "./ThreadSectionAppearance";

/**
 * A group of threads that the user made.
 */
export type ThreadSection = {
/**
 * Id of the section.
 */
id: string,
/**
 * Name of the section.
 */
name: string,
/**
 * Appearance.
 */
appearance?: ThreadSectionAppearance | null, };
