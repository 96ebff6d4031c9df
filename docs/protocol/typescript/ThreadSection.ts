// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadSectionAppearance } from "./ThreadSectionAppearance";

/**
 * A group of threads that the user made.
 */
export type ThreadSection = {
/**
 * The id.
 */
id: string,
/**
 * The name.
 */
name: string,
/**
 * How it is shown.
 */
appearance?: ThreadSectionAppearance | null, };
