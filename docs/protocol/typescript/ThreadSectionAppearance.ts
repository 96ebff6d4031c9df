// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Appearance of a group of threads.
 */
export type ThreadSectionAppearance = {
/**
 * Its colour.
 */
color?: string | null,
/**
 * Its icon.
 */
icon?: string | null, };
