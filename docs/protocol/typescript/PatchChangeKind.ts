// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What happens to a file.
 */
export type PatchChangeKind = { "type": "add" } | { "type": "delete" } | { "type": "update",
/**
 * Where the file goes.
 */
move_path?: string | null, };
