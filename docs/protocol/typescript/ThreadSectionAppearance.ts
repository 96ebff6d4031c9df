// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How a group of threads is shown.
 */
export type ThreadSectionAppearance = {
/**
 * Its colour.
 */
color?: string | null,
/**
 * Its symbol.
 */
icon?: string | null, };
