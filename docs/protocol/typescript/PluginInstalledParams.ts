// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `plugin/installed`.
 */
export type PluginInstalledParams = {
/**
 * Working directories. If empty, the working directory of the server.
 */
cwds?: Array<AbsolutePath> | null,
/**
 * Names of plugins that the client may suggest to install.
 */
installSuggestionPluginNames?: Array<string> | null, };
