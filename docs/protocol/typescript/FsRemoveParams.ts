// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/remove`.
 */
export type FsRemoveParams = {
/**
 * The path.
 */
path: AbsolutePath,
/**
 * Whether it is no error that there is nothing.
 */
force?: boolean | null,
/**
 * Whether directories go with all that is in them; they do if nothing is said.
 */
recursive?: boolean | null, };
