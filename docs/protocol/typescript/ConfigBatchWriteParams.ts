// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ConfigEdit } from "./ConfigEdit";

/**
 * Params of `config/batchWrite`.
 */
export type ConfigBatchWriteParams = {
/**
 * The changes, in order.
 */
edits: Array<ConfigEdit>,
/**
 * The version of the file that the client knows; another one is refused.
 */
expectedVersion?: string | null,
/**
 * The file to write; the user's own if nothing is said.
 */
filePath?: string | null,
/**
 * Whether running threads take the new settings.
 */
reloadUserConfig?: boolean | null, };
