// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A change of one file, in the form of the older approval request.
 */
export type FileChange = { "type": "add",
/**
 * Content of the new file.
 */
content: string, } | { "type": "delete",
/**
 * Content of the deleted file.
 */
content: string, } | { "type": "update",
/**
 * The change as a unified diff.
 */
unified_diff: string,
/**
 * New path of the file, if it is moved.
 */
move_path?: string | null, };
