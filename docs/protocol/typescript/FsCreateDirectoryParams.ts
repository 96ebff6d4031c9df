// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `fs/createDirectory`.
 */
export type FsCreateDirectoryParams = {
/**
 * The path.
 */
path: AbsolutePath,
/**
 * Whether the directories above are made too; they are if nothing is said.
 */
recursive?: boolean | null, };
