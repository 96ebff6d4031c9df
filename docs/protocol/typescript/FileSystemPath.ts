// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileSystemSpecialPath } from "./FileSystemSpecialPath";

/**
 * The paths that a permission applies to.
 */
export type FileSystemPath = { "type": "path",
/**
 * The path.
 */
path: string, } | { "type": "glob_pattern",
/**
 * The pattern.
 */
pattern: string, } | { "type": "special",
/**
 * The special place.
 */
value: FileSystemSpecialPath, };
