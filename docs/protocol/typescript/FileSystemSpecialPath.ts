// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A special place, whose path depends on the machine.
 */
export type FileSystemSpecialPath = { "kind": "root" } | { "kind": "minimal" } | { "kind": "project_roots",
/**
 * A path below each directory, if only that is meant.
 */
subpath?: string | null, } | { "kind": "tmpdir" } | { "kind": "slash_tmp" } | { "kind": "unknown",
/**
 * The unknown path.
 */
path: string,
/**
 * A path below it, if only that is meant.
 */
subpath?: string | null, };
