// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { NetworkAccess } from "./NetworkAccess";

/**
 * What commands of the model may do.
 */
export type SandboxPolicy = { "type": "dangerFullAccess" } | { "type": "readOnly",
/**
 * Whether commands may use the network.
 */
networkAccess?: boolean | null, } | { "type": "externalSandbox",
/**
 * Whether commands may use the network.
 */
networkAccess?: NetworkAccess | null, } | { "type": "workspaceWrite",
/**
 * Whether `/tmp` is not writable.
 */
excludeSlashTmp?: boolean | null,
/**
 * Whether the directory in `TMPDIR` is not writable.
 */
excludeTmpdirEnvVar?: boolean | null,
/**
 * Whether commands may use the network.
 */
networkAccess?: boolean | null,
/**
 * Writable directories in addition to the working directory.
 */
writableRoots?: Array<AbsolutePath> | null, };
