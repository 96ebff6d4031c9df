// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A place whose path depends on the machine.
 */
export type FileSystemSpecialPath = { "kind": "root" } | { "kind": "minimal" } | { "kind": "project_roots",
/**
 * A path below it.
 */
subpath?: string | null, } | { "kind": "tmpdir" } | { "kind": "slash_tmp" } | { "kind": "unknown",
/**
 * The path.
 */
path: string,
/**
 * A path below it.
 */
subpath?: string | null, };
